"""A server has a thread per visitor: two who generate at once get what each gets alone."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from pagedkv.generate import Generation, prove

FIELDS = [
    {"num_answers": 4, "length": 6},
    {"num_answers": 2, "length": 6, "block_size": 3, "seed": 5},
]


def test_two_visitors_at_once_get_what_each_gets_alone(generated, model):
    at_once = Barrier(len(FIELDS))

    def visit(fields):
        generation = Generation(generated(**fields).choices, model)
        for _ in range(generation.choices.length):
            at_once.wait()
            generation.advance()
        return generation

    with ThreadPoolExecutor(len(FIELDS)) as pool:
        together = list(pool.map(visit, FIELDS))
    for generation, fields in zip(together, FIELDS, strict=True):
        alone = generated(**fields)
        assert generation.texts() == alone.texts()
        assert generation.moments == alone.moments
        assert prove(generation).agrees

"""Random sessions against a model of plain lists that knows no engine.

The model keeps, per request, its tokens (None where the language model chose) and its block ids;
who waits with how long a prompt; and the free list. Everything else follows.
"""

from hypothesis import given
from sandbox_scripts import RELAXED, Play, crowded_scripts, scripts

from pagedkv.sandbox.actions import DecodeToken, EngineStep, Finish, Fork, NewRequest, name_of
from pagedkv.sandbox.free_orders import free_order_of
from pagedkv.sandbox.script import MAX_ALIVE, Script
from pagedkv.trace.frame import Frame

TOKEN_BUDGET = 128


class Lists:
    """What is where, after the actions so far."""

    def __init__(self, script: Script) -> None:
        self.size = script.pool.block_size
        self.total = script.pool.capacity // script.pool.block_size
        self.free = list(free_order_of(script.pool.free_order, self.total))
        self.tokens: dict[str, list[str | None]] = {}
        self.tables: dict[str, list[int]] = {}
        self.waiting: dict[str, str] = {}
        self.born = 0

    def do(self, action):
        match action:
            case NewRequest(prompt=prompt):
                self.born += 1
                self.new(name_of(self.born), prompt)
            case DecodeToken(request=number, token=token):
                if name_of(number) in self.tokens:
                    self.decode(name_of(number), token)
            case Fork(request=number):
                self.born += 1
                self.fork(name_of(number), name_of(self.born))
            case Finish(request=number):
                self.waiting.pop(name_of(number), None)
                self.finish(name_of(number))
            case EngineStep():
                self.step()

    def new(self, name, prompt):
        needed = -(-len(prompt) // self.size)
        if len(self.tokens) + len(self.waiting) >= MAX_ALIVE or needed > self.total:
            return
        if self.waiting or needed > len(self.free):
            self.waiting[name] = prompt
        else:
            self.admit(name, prompt)

    def admit(self, name, prompt):
        needed = -(-len(prompt) // self.size)
        self.tables[name] = [self.free.pop(0) for _ in range(needed)]
        self.tokens[name] = list(prompt)

    def decode(self, name, token=None):
        table = self.tables[name]
        if len(self.tokens[name]) % self.size:
            if sum(table[-1] in other for other in self.tables.values()) > 1:
                if not self.free:
                    return False
                table[-1] = self.free.pop(0)
        elif self.free:
            table.append(self.free.pop(0))
        else:
            return False
        self.tokens[name].append(token)
        return True

    def fork(self, parent, child):
        if parent in self.tokens and len(self.tokens) + len(self.waiting) < MAX_ALIVE:
            self.tokens[child] = list(self.tokens[parent])
            self.tables[child] = list(self.tables[parent])

    def finish(self, name):
        self.tokens.pop(name, None)
        for block in reversed(self.tables.pop(name, [])):
            if not any(block in table for table in self.tables.values()):
                self.free.insert(0, block)

    def step(self):
        going_on = [self.decode(name) for name in self.tokens]
        room = TOKEN_BUDGET - sum(going_on)
        while all(going_on) and self.waiting:
            name, prompt = next(iter(self.waiting.items()))
            if len(prompt) > room or -(-len(prompt) // self.size) > len(self.free):
                break
            self.admit(name, self.waiting.pop(name))
            room -= len(prompt)


def assert_alike(frame: Frame, lists: Lists) -> None:
    state = frame.state
    assert {r.name: list(r.block_table) for r in state.requests} == lists.tables
    assert list(state.waiting) == list(lists.waiting)
    assert list(state.free_blocks) == lists.free
    for request in state.requests:
        told = lists.tokens[request.name]
        assert request.num_tokens == request.num_stored == len(told)
        assert all(want in (None, got) for got, want in zip(request.tokens, told, strict=True))
        assert request.pending_token is not None


@RELAXED
@given(scripts() | crowded_scripts())
def test_every_frame_is_as_the_lists_say(play: Play, script: Script):
    session = play(script)
    lists = Lists(script)
    assert len(session.recorder.frames) == 1 + len(script.actions)
    assert_alike(session.recorder.frames[0], lists)
    for frame, action in zip(session.recorder.frames[1:], script.actions, strict=True):
        lists.do(action)
        assert_alike(frame, lists)
    assert session.recorder.engine.cache.check() == []

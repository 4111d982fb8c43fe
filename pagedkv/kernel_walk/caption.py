"""What a walk shows and where it stands, in words."""

from kernels.backend import Runtime
from pagedkv.kernel_walk.walk import Walk
from pagedkv.trace.written import Phrases

_WORDS = Phrases(
    {
        "outside": "Outside the loop, which takes 1 tile.|Outside the loop, which takes {count} "
        "tiles.",
        "tile": "**Tile {tile} of {num_tiles}**: {positions}",
        "recorded": "This is the attention kernel as it lies in its file. It ran on {machine}, one "
        "program for each request and KV head, which takes {tile} positions at a time; every "
        "number was stored by the kernel itself.",
        "interpreted": " (In the lessons one interpreted program has all requests at once.)",
        "source_only": "This is the attention kernel as it lies in its file. Here it cannot run, "
        "for this process computes with torch: where Triton is installed, this page steps through "
        "it.",
        "positions": "position {first}|positions {first} to {last}",
    }
)


def introduction(runtime: Runtime, tile: int | None) -> str:
    """What the page shows: a launch with ``tile`` positions a tile, or None for the source alone.

    ``runtime`` is ``kernels.runtime()``.
    """
    if tile is None:
        return _WORDS.say("source_only")
    is_interpreted = runtime["backend"] == "triton-interpreter"
    machine = f"the {runtime['gpu']}" if runtime["gpu"] else "the CPU, interpreted"
    recorded = _WORDS.say("recorded", machine=machine, tile=tile)
    return recorded + (_WORDS.say("interpreted") if is_interpreted else "")


def where(walk: Walk, at: int) -> str:
    """The tile at hand and its positions, in Markdown; raises IndexError past the last moment."""
    moment = walk.moments[at]
    if moment.tile is None:
        return _WORDS.say_count("outside", walk.num_tiles)
    span = moment.positions
    positions = _WORDS.say_count("positions", len(span), first=span[0], last=span[-1])
    return _WORDS.say("tile", tile=moment.tile + 1, num_tiles=walk.num_tiles, positions=positions)

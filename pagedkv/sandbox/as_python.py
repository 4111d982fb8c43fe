"""A session as a Python script that does the same with the library, call by call.

It is read off the trace: what the engine announced in a frame is what was asked of it. A refusal
leaves the engine as it was, so it becomes a comment.
"""

from collections.abc import Sequence

from pagedkv.events import (
    Event,
    RequestAdmitted,
    RequestFinished,
    RequestForked,
    SlotsWritten,
    TokenSelected,
)
from pagedkv.sandbox.actions import Fork, NewRequest, name_of
from pagedkv.sandbox.free_orders import free_order_of
from pagedkv.sandbox.script import Script
from pagedkv.trace.frame import Frame, Trace

_HEAD = '''"""A session of the sandbox, done again with the library."""

import kernels
from pagedkv.engine import Engine
from pagedkv.model import load_model

engine = Engine(
    load_model(kernels.runtime()["device"]),
    block_size={block_size},
    num_blocks={num_blocks},
    free_order={free_order},
)
'''
_FOOT = """
for name in engine.requests:
    print(name, repr(engine.text(name)), engine.cache.block_table(name))
"""


def to_python(script: Script, trace: Trace) -> str:
    """The source of the script; ``trace`` is what the session left, a frame an action."""
    settings = script.pool.settings()
    head = _HEAD.format(
        block_size=settings.block_size,
        num_blocks=settings.num_blocks,
        free_order=free_order_of(script.pool.free_order, settings.num_blocks),
    )
    prompts = _prompts(script)
    parts = [
        "\n".join(["", f"# {frame.index}. {frame.title}", *_calls(frame, prompts)])
        for frame in trace.frames[1:]
    ]
    return head + "\n".join([*parts, _FOOT])


def _prompts(script: Script) -> dict[str, str]:
    born = [action for action in script.actions if isinstance(action, NewRequest | Fork)]
    return {
        name_of(number): action.prompt
        for number, action in enumerate(born, start=1)
        if isinstance(action, NewRequest)
    }


def _calls(frame: Frame, prompts: dict[str, str]) -> list[str]:
    """The calls that a frame's events came from, in the order in which they were made."""
    inputs = [event.request for event in frame.events if isinstance(event, SlotsWritten)]
    admitted = [event.request for event in frame.events if isinstance(event, RequestAdmitted)]
    if not inputs:
        return _own_calls(frame.events)
    executed = next(i for i, e in enumerate(frame.events) if isinstance(e, SlotsWritten))
    return [
        *_own_calls(frame.events[:executed]),
        *(f"engine.append({name!r})" for name in inputs if name not in admitted),
        *(f"engine.admit({name!r}, {prompts[name]!r})" for name in admitted),
        f"engine.execute({', '.join(map(repr, inputs))})",
        *_own_calls(frame.events[executed:]),
    ]


def _own_calls(events: Sequence[Event]) -> list[str]:
    """The calls that are each announced by one event of their own."""
    calls = []
    for event in events:
        match event:
            case TokenSelected(request=request, rank=rank):
                calls.append(f"engine.select({request!r}, rank={rank})")
            case RequestForked(parent=parent, child=child):
                calls.append(f"engine.fork({parent!r}, {child!r})")
            case RequestFinished(request=request):
                calls.append(f"engine.finish({request!r})")
    return calls

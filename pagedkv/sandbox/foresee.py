"""What the engine will check before an action, in words, so that one can predict what comes.

Every function asks the session and changes nothing. The numbers are the engine's own answers.
"""

from pagedkv.layout import empty_slots
from pagedkv.memory_check import admission_check, append_check
from pagedkv.narration import plural
from pagedkv.sandbox.script import MAX_ALIVE
from pagedkv.sandbox.session import Session
from pagedkv.trace.frame import Check

_FULL = f"{MAX_ALIVE} requests are alive, the most there can be: it will be refused"
_WAITING = "is waiting and has nothing stored: it will be refused"


def before_new(session: Session, prompt: str) -> str:
    """What will be asked about a new request with this prompt, in the order in which it is."""
    if not prompt:
        return "A prompt of at least one character."
    if session.is_full:
        return _FULL
    check = admission_check(session.recorder.engine, "new", len(prompt))
    if check.needed > session.recorder.engine.cache.num_blocks:
        whole = _count(session.recorder.engine.cache.num_blocks, "block")
        return f"needs {_count(check.needed, 'block')}, the pool has {whole}: it will be refused"
    if session.waiting:
        return f"{_numbers(check)}: it will wait behind {session.waiting[-1]}"
    return _numbers(check) + ("" if check.fits else ": it will wait")


def before_decode(session: Session, name: str) -> str:
    """What will be asked about a request's next token."""
    if name in session.waiting:
        return _WAITING
    engine = session.recorder.engine
    cache = engine.cache
    check = append_check(engine, name)
    last = cache.block_table(name)[-1]
    if check.copies:
        others = cache.ref_count(last) - 1
        return f"shares P{last} with {others}: the copy {_numbers(check)}{_verdict(check)}"
    if not check.needed:
        return f"has {_count(check.empty_in_last_block, 'empty slot')} in P{last}: needs no block"
    return f"has no empty slot: {_numbers(check)}{_verdict(check)}"


def before_fork(session: Session, name: str) -> str:
    """What a fork of a request will do."""
    if name in session.waiting:
        return _WAITING
    if session.is_full:
        return _FULL
    cache = session.recorder.engine.cache
    shared = _count(len(cache.block_table(name)), "block")
    if not empty_slots(cache.num_tokens(name), cache.block_size):
        return f"shares {shared}; the last is full"
    return f"shares {shared}; who writes first copies the last"


def before_finish(session: Session, name: str) -> str:
    """What will come back when a request ends."""
    if name in session.waiting:
        return "leaves the queue; it holds no block"
    cache = session.recorder.engine.cache
    table = cache.block_table(name)
    stay = sum(cache.ref_count(block_id) > 1 for block_id in table)
    kept = f", {stay} shared with others {'stays' if stay == 1 else 'stay'}" if stay else ""
    return f"gives back {_count(len(table) - stay, 'block')}{kept}"


def before_step(session: Session) -> str:
    """What will be asked in one engine step, request by request."""
    engine = session.recorder.engine
    if not session.running and not session.waiting:
        return "nobody to go on with"
    asked = []
    for name in session.running:
        check = append_check(engine, name)
        need = "a copy" if check.copies else _count(check.needed, "block")
        asked.append(f"{name}: {need if check.needed else 'none'}")
    free = _count(engine.cache.num_free_blocks, "block")
    text = f"{free} free; asked in turn: {', '.join(asked) or 'nobody'}"
    if session.waiting:
        name = session.waiting[0]
        needed = engine.cache.blocks_needed_to_admit(len(session.prompts[name]))
        text += f"; then {name} from the queue, {_count(needed, 'block')}"
    return text


def _numbers(check: Check) -> str:
    are = "is" if check.free == 1 else "are"
    return f"needs {_count(check.needed, 'block')}, {check.free} {are} free"


def _verdict(check: Check) -> str:
    return "" if check.fits else ": it will be refused"


def _count(number: int, noun: str) -> str:
    return f"{number} {plural(noun, number)}"

"""What the page says of a generation, in Markdown, computed from its numbers.

Characters of an answer occur only as a model's own vocabulary writes them, never a visitor's text.
"""

import re

from kernels.backend import Runtime
from pagedkv.generate.choices import COURSE, LARGE, Choices
from pagedkv.generate.dense_check import LOGIT_TOLERANCE, Difference, Proof
from pagedkv.generate.generation import Generation
from pagedkv.generate.kept import Kept
from pagedkv.generate.usage import Moment
from pagedkv.layer_work import LayerWork
from pagedkv.trace.written import Phrases, small, visible

MARKUP = re.compile(r"[\\`*_{}\[\]()<>#+\-.!$|~:]")  # what Markdown, as Streamlit has it, may read
SLOW = 10  # tokens per second; below it tenths count
UNITS = {COURSE: ("character", "characters"), LARGE: ("token", "tokens")}

WORDS = Phrases(
    {
        "progress": "{done} of {total} {tokens} · {rate} {tokens} per second · {backend}",
        "checking": "{done} of {total} answers checked without a cache",
        "made": "{done} {tokens} · {rate} per second · {backend}",
        "stopped": "Stopped after {done} of {total} {tokens} · {rate} per second · {backend}",
        "layer": "layer {layer}|{count} layers",
        "layers_by": "{layers} by {backend}",
        "held": "**{shared} {blocks}** in use; {unshared} without sharing, {reserved} with a "
        "reservation for each answer.",
        "saved": "Sharing saves **{saved} {blocks}, {percent:.0f} %**.",
        "saves_nothing": "One answer has nobody to share with.",
        "saves_no_more": "Nothing is saved by sharing here: the prompt fills no block.",
        "blocks": "block|blocks",
        "agrees": "**The same prompt and seed through a forward pass that knows no cache give the "
        "same {tokens}.** Largest difference of two logits: {largest}; up to {bound} is "
        "rounding.",
        "objects": "**A forward pass that knows no cache does not agree.** {differences}Largest "
        "difference of two logits: {largest}; up to {bound} would be rounding.",
        "difference": "{name}'s {token} {number} is “{cached}” with the cache and “{dense}” "
        "without. ",
        "stretch": "The player has executions {first} to {last} of {total}; click elsewhere in the "
        "figure for others.",
    }
)


def answer_words(text: str) -> str:
    """An answer with its line ends, and spaces at either end of a line, visible.

    A page cuts white space off the ends of a text, and every character counts here.

    >>> answer_words("\\n a b ")
    '↵\\n␣a b␣'
    """
    ends = re.sub("^ +| +$", lambda found: visible(found[0]), text, flags=re.MULTILINE)
    return ends.replace("\n", f"{visible(chr(10))}\n")


def backend_words(work: LayerWork, runtime: Runtime) -> str:
    """Which code did the layers, which did which if there are several, and on which device."""
    device = runtime["gpu"] or runtime["device"].upper()
    shares = work.by_backend
    if len(shares) == 1:
        return f"{work.default}, {device}"
    said = [
        WORDS.say(
            "layers_by",
            layers=WORDS.say_count("layer", len(layers), layer=layers[0]),
            backend=backend,
        )
        for backend, layers in shares.items()
    ]
    return ", ".join([*said, device])


def progress_words(run: Generation, runtime: Runtime) -> str:
    """How far a run is, how fast, and on what."""
    return _how_far("progress", run, runtime)


def checking_words(done: int, total: int) -> str:
    """How far the proof is."""
    return WORDS.say("checking", done=done, total=total)


def ended_words(kept: Kept, runtime: Runtime) -> str:
    """How far a run came, how fast, and on what."""
    key = "stopped" if kept.was_stopped else "made"
    return _how_far(key, kept, runtime)


def held_words(moment: Moment) -> str:
    """How many blocks are held, and how many would be otherwise."""
    return WORDS.say(
        "held",
        shared=moment.shared,
        blocks=WORDS.say_count("blocks", moment.shared),
        unshared=moment.unshared,
        reserved=moment.reserved,
    )


def saving_words(moment: Moment, num_answers: int) -> str:
    """What sharing saves at a moment, in blocks and per cent."""
    if num_answers == 1:
        return WORDS.say("saves_nothing")
    if moment.saved == 0:
        return WORDS.say("saves_no_more")
    return WORDS.say(
        "saved",
        saved=moment.saved,
        blocks=WORDS.say_count("blocks", moment.saved),
        percent=moment.saved_percent,
    )


def proof_words(proof: Proof, choices: Choices) -> str:
    """What the forward pass without a cache says of the texts."""
    token, tokens = UNITS[choices.model]
    return WORDS.say(
        "agrees" if proof.agrees else "objects",
        tokens=token if proof.num_tokens == 1 else f"{proof.num_tokens} {tokens}",
        differences="".join(_difference(found, token) for found in proof.differences),
        largest=small(proof.largest_logit_difference),
        bound=small(LOGIT_TOLERANCE),
    )


def stretch_words(first: int, num_frames: int, total: int) -> str:
    """Which executions the player has, where it has not all; else nothing."""
    if num_frames == total:
        return ""
    return WORDS.say("stretch", first=first + 1, last=first + num_frames, total=total)


def _how_far(key: str, of: Generation | Kept, runtime: Runtime) -> str:
    pace, choices = of.pace, of.choices
    token, tokens = UNITS[choices.model]
    return WORDS.say(
        key,
        done=pace.num_tokens,
        total=choices.num_answers * choices.length,
        tokens=token if (key, pace.num_tokens) == ("made", 1) else tokens,
        rate=f"{pace.tokens_per_second:.{0 if pace.tokens_per_second >= SLOW else 1}f}",
        backend=backend_words(of.layer_work, runtime),
    )


def _difference(difference: Difference, token: str) -> str:
    return WORDS.say(
        "difference",
        token=token,
        name=difference.name,
        number=difference.index + 1,
        cached=_escaped(visible(difference.cached)),
        dense=_escaped(visible(difference.dense)),
    )


def _escaped(token: str) -> str:
    """A model's token within Markdown: what would be markup stands as it is."""
    return MARKUP.sub(r"\\\g<0>", token)

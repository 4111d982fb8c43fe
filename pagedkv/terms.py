"""The course's vocabulary: every term with a definition of one or two sentences, for tooltips.

Pure data and a look-up. Where a term is shown, and how, is for pages and player to decide.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A term: its ``name``, other spellings in running text, and what it means."""

    name: str
    definition: str
    spellings: tuple[str, ...] = ()


TERMS: tuple[Term, ...] = (
    Term(
        "position",
        "The index of a token within its own request, counted from 0. It never changes, "
        "wherever the token's K and V are kept.",
        ("positions",),
    ),
    Term(
        "K, V, Q",
        "For every position, layer and KV head the model computes a key (K), by which later "
        "positions find it, and a value (V), what they take from it; both are kept. "
        "A query (Q) asks once and is not kept.",
        ("K and V", "keys and values"),
    ),
    Term(
        "KV",
        "The key (K) and the value (V) of a position, in every layer and KV head. "
        "Later positions read them, so the engine keeps them.",
    ),
    Term(
        "Q",
        "The query of the position being processed, one per layer and head: it is compared with "
        "every key of the context, then thrown away.",
    ),
    Term("slot", "Room for the K and V of one position, in every layer and head.", ("slots",)),
    Term(
        "block",
        "A fixed number of consecutive slots, the block size. Memory is given out and taken back "
        "only in whole blocks.",
        ("blocks",),
    ),
    Term(
        "block size",
        "How many slots a block has. Small blocks leave fewer slots empty; large ones make shorter "
        "tables.",
    ),
    Term(
        "logical block",
        "A block counted in its request's own order: L0 holds the first positions, L1 the next. "
        "It says nothing about the place in memory.",
        ("logical blocks",),
    ),
    Term(
        "physical block",
        "A block counted by its place in the pool: P0, P1 and so on. This is where K and V "
        "really are.",
        ("physical blocks",),
    ),
    Term(
        "block pool",
        "All physical blocks that the engine manages: the ones in use and the free ones. Together "
        "they are the only copy of K and V.",
        ("pool",),
    ),
    Term(
        "block table",
        "One request's list that says, for each logical block, which physical block holds it. "
        "One table serves all layers and heads.",
        ("block tables", "table"),
    ),
    Term(
        "capacity",
        "How many positions the memory set aside for K and V can hold; weights and workspace are "
        "not counted. What does not fill a whole block cannot be used.",
    ),
    Term(
        "allocated",
        "Given to a request. An allocated slot may still be empty: giving space and storing K and "
        "V in it are two separate operations.",
    ),
    Term("stored", "K and V of the position have been computed and written into the slot."),
    Term(
        "empty",
        "Allocated to a request, but the K and V of its position are not stored yet.",
        ("empty slots", "empty slot"),
    ),
    Term(
        "free",
        "In a block that no request owns, so it can be given to any of them.",
        ("free block", "free blocks"),
    ),
    Term(
        "stale",
        "Free, with the bytes of an ended request still in it. Nobody may read them; whoever gets "
        "the block writes over them.",
        ("old bytes",),
    ),
    Term(
        "free list",
        "The free blocks in the order in which they will be given. Here the block returned last "
        "is given first.",
    ),
    Term(
        "ref count",
        "Reference count: how many table entries point to a physical block. At 0 the block is "
        "free; above 1 it is shared and must not be written.",
        ("ref counts", "reference count", "reference counts"),
    ),
    Term(
        "request",
        "One prompt with its answer, as the engine handles it: it has its own positions and its "
        "own block table.",
        ("requests",),
    ),
    Term(
        "response",
        "One of several answers to the same prompt. To the engine each is a request of its own.",
        ("responses",),
    ),
    Term(
        "prompt",
        "The input that a request starts with. Its positions are processed together, in one "
        "execution.",
    ),
    Term(
        "execution",
        "One run of the model over this turn's inputs, possibly of several requests at once.",
        ("executions",),
    ),
    Term(
        "token budget",
        "How many input tokens one execution may process in all. It is a limit on computing, "
        "separate from the room in memory.",
        ("execution's token budget",),
    ),
    Term(
        "pending token",
        "An output that was selected but not yet processed as an input: it has no slot and no KV.",
        ("pending", "next input"),
    ),
    Term(
        "token",
        "One unit of text for the model. In this course a token is one character; real models use "
        "longer pieces.",
        ("tokens",),
    ),
    Term(
        "fork",
        "To start a second request from the same stored positions. Both share every block; nothing "
        "is copied yet.",
        ("forked", "forks"),
    ),
    Term(
        "shared prefix",
        "The beginning that several requests have in common, from position 0 on. Only then are "
        "their K and V equal, and one copy serves all.",
    ),
    Term(
        "copy-on-write",
        "Whoever must write into a block with a ref count above 1 first gets a copy of it. "
        "A block that is only read stays shared.",
    ),
    Term(
        "context length",
        "How many stored positions the current query attends to, its own included.",
    ),
    Term(
        "attention",
        "The current position's query is compared with every key of its context; the weights that "
        "result say how much of each value is taken.",
    ),
    Term(
        "weight",
        "The share of one position in the result of attention. All weights of a query are from 0 "
        "to 1 and sum to 1.",
        ("weights",),
    ),
    Term(
        "softmax",
        "Turns scores into weights: each is e to the power of its score, divided by the sum over "
        "the whole context.",
    ),
    Term(
        "layer",
        "One stage of the model. Each has its own K and V for every position, at the same place in "
        "its own pool.",
        ("layers",),
    ),
    Term(
        "head",
        "One of several attentions that a layer computes side by side. Several query heads may "
        "read the same KV head.",
        ("heads", "KV head", "KV heads"),
    ),
    Term(
        "dense reference",
        "A checker that grows its own contiguous K and V beside the engine and never looks into "
        "the pool. Engines have none; it is not a gathered copy.",
        ("dense copy", "dense check"),
    ),
    Term(
        "reservation",
        "Room in one piece set aside for the longest answer a request may give, whether it is ever "
        "used or not.",
        ("reserved", "reserves", "reserve"),
    ),
    Term(
        "waiting",
        "Not admitted yet: the request holds no block, and is asked again when blocks are free.",
    ),
)


class UnknownTermError(KeyError):
    """The vocabulary has no such term."""


def _by_spelling() -> dict[str, Term]:
    spellings: dict[str, Term] = {}
    for term in TERMS:
        for spelling in (term.name, *term.spellings):
            spellings.setdefault(spelling.casefold(), term)
    return spellings


_BY_SPELLING = _by_spelling()


def find_term(text: str) -> Term:
    """Return the term that is written ``text``, in any of its spellings and any case.

    >>> find_term("Block tables").name
    'block table'

    Raises ``UnknownTermError`` for anything else.
    """
    try:
        return _BY_SPELLING[text.casefold()]
    except KeyError:
        raise UnknownTermError(f"{text!r} is not a term of the course") from None


def spellings() -> tuple[str, ...]:
    """Every spelling of every term, the longest first, so that a search finds whole terms."""
    return tuple(sorted(_BY_SPELLING, key=lambda spelling: (-len(spelling), spelling)))

"""Every word of the figures that a learner reads. Another language is another set of words."""

from pagedkv.trace.written import Phrases

WORDS: dict[str, str] = {
    # attention maps: titles, axes, hover
    "kernel_triton": "Triton kernel",
    "kernel_torch": "torch kernel",
    "dense": "Dense reference",
    "difference": "Difference, at most {largest}",
    "weights_of": "weights of {chosen}",
    "chosen": "{request}, layer {layer}, head {head}",
    "difference_of": "kernel − dense",
    "difference_counted": "kernel − dense, counted in {unit}",
    "query_axis": "query position",
    "key_axis": "key position",
    "masked": "hatched: later than the query, masked",
    "no_rows": "queries below {before} are not in these frames",
    "query_label": "{position} {token}",
    "query_hover": "{position} {token}, frame {frame}<br>its weights sum to {sum:.6f}",
    "key_hover": "{position} {token}, L{logical_block} in P{block_id}",
    "weight_hover": "query %{y}<br>key %{x}<br>weight %{z:.6f}<extra></extra>",
    "difference_hover": "query %{y}<br>key %{x}<br>kernel − dense %{z:.1e}<extra></extra>",
    # memory over frames
    "memory_blocks": "Positions in blocks",
    "memory_contiguous": "Positions reserved in one piece",
    "memory_sharing": "Table entries and blocks",
    "slots_axis": "positions",
    "count_axis": "count",
    "frame_axis": "frame",
    "stored": "stored",
    "empty": "allocated, empty",
    "reserved_empty": "reserved, empty",
    "free": "free",
    "unusable": "unusable: no whole block",
    "capacity": "capacity {capacity}",
    "table_entries": "table entries",
    "blocks_in_use": "blocks in use",
    # in words
    "queries": "1 query|{count} queries",
    "keys": "1 key|{count} keys",
    "blocks": "1 block|{count} blocks",
    "frames": "1 frame|{count} frames",
    "alt_weights": "{what}: attention weights of {chosen}, {queries} by {keys} in {blocks}; rows "
    "sum to 1 within {off}. Query {query}, the last, gives the largest weight, {largest}, to key "
    "{key}.",
    "alt_difference": "Kernel minus dense reference: {chosen}, {queries} by {keys} in {blocks}. "
    "They are at most {largest} apart, for query {query} and key {key}.",
    "alt_memory": "Memory over {frames}: {capacity} positions, {blocks} of {block_size}. Stored: "
    "{first} at first, at most {most_stored}, {last} at last; allocated but empty: at most "
    "{most_empty}; free: at least {least_free}.",
    "alt_unusable": "{positions} no whole block.",
    "make": "1 position makes|{count} positions make",
    "alt_contiguous": "In one piece, {reserved} are reserved for {stored} stored, and {free} are "
    "left.",
    "alt_sharing": "Where sharing saves most, {entries} table entries point to {blocks} blocks.",
    "memory_hover": "{title}<br>{name}: %{{y}}<extra>frame %{{x}}</extra>",
}

_phrases = Phrases(WORDS)
say, say_count = _phrases.say, _phrases.say_count


def kernel_words(backend: str) -> str:
    """Return the name of what computed the weights.

    >>> kernel_words("triton-interpreter")
    'Triton kernel'
    """
    return WORDS["kernel_triton" if backend.startswith("triton") else "kernel_torch"]

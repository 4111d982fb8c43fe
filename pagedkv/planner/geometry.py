"""What a model keeps for each position: layers, KV heads, head sizes, windows, or one latent."""

from dataclasses import dataclass, replace

from pagedkv.planner.checking import Named, PlanError, require_whole

LAYER_COUNTS = range(1, 1025)
HEAD_COUNTS = range(1, 1025)
CHANNEL_COUNTS = range(1, 65_537)
WINDOWS = range(1, 100_000_001)


@dataclass(frozen=True, slots=True)
class Latent:
    """The one vector that multi-head latent attention keeps in place of all K and V.

    ``rank`` numbers of the compressed K and V and ``rope_dim`` of the rotated key, for each
    position and layer; no factor 2, and every GPU holds all of it. Raises ``PlanError`` for what
    cannot be.
    """

    rank: int
    rope_dim: int

    def __post_init__(self) -> None:
        require_whole("mla_rank", self.rank, CHANNEL_COUNTS)
        require_whole("rope_dim", self.rope_dim, CHANNEL_COUNTS)
        if self.size not in CHANNEL_COUNTS:
            raise PlanError(
                Named("mla_rank"),
                f" is {self.rank} and ",
                Named("rope_dim"),
                f" {self.rope_dim}; together they must be at most {CHANNEL_COUNTS[-1]:,}",
            )

    @property
    def size(self) -> int:
        """Numbers kept for a position in a layer."""
        return self.rank + self.rope_dim


@dataclass(frozen=True, slots=True)
class Geometry:
    """The KV side of a model. Sizes are those of one layer; all layers are alike but for windows.

    ``head_dim`` is the size of a key, ``v_head_dim`` that of a value where it differs. Of the
    ``num_layers``, ``windowed_layers`` see no more than the last ``window`` positions.
    ``num_heads`` counts query heads, where it is known: the KV cache does not depend on it, but the
    comparison with MHA does, and so does how many GPUs an engine lets share the model. With a
    ``latent`` the KV heads are what it stands for. Raises ``PlanError`` for what cannot be.
    """

    num_layers: int
    num_kv_heads: int
    head_dim: int
    num_heads: int | None = None
    v_head_dim: int | None = None
    windowed_layers: int = 0
    window: int | None = None
    latent: Latent | None = None

    def __post_init__(self) -> None:
        require_whole("layers", self.num_layers, LAYER_COUNTS)
        require_whole("kv_heads", self.num_kv_heads, HEAD_COUNTS)
        require_whole("head_dim", self.head_dim, CHANNEL_COUNTS)
        if self.v_head_dim is not None:
            require_whole("v_head_dim", self.v_head_dim, CHANNEL_COUNTS)
        if self.num_heads is not None:
            require_whole("num_heads", self.num_heads, HEAD_COUNTS)
            if self.num_heads % self.num_kv_heads:
                raise PlanError(
                    Named("num_heads"),
                    f" is {self.num_heads}; it must be a multiple of ",
                    Named("kv_heads"),
                    f", which is {self.num_kv_heads}",
                )
        require_whole("windowed_layers", self.windowed_layers, range(self.num_layers + 1))
        if self.window is not None:
            require_whole("window", self.window, WINDOWS)
        if (self.window is None) != (self.windowed_layers == 0):
            window = "not given" if self.window is None else f"{self.window}"
            raise PlanError(
                Named("window"),
                f" is {window}, and ",
                Named("windowed_layers"),
                f" is {self.windowed_layers}; give both, or neither",
            )

    @property
    def full_layers(self) -> int:
        """Layers that see every earlier position."""
        return self.num_layers - self.windowed_layers

    @property
    def kind(self) -> str:
        """How K and V are shared: "MHA", "GQA", "MQA" or "MLA"; "" if query heads are not known.

        One KV head is MQA, unless it is known to have one query head only.
        """
        if self.latent is not None:
            return "MLA"
        if self.num_heads == self.num_kv_heads:
            return "MHA"
        if self.num_kv_heads == 1:
            return "MQA"
        return "" if self.num_heads is None else "GQA"

    @property
    def is_hybrid(self) -> bool:
        """Whether some layers have a window and others do not."""
        return 0 < self.windowed_layers < self.num_layers

    def heads_on_a_gpu(self, tp: int) -> int:
        """KV heads on each of ``tp`` GPUs; fewer heads than GPUs are copied, so never below 1."""
        return max(1, self.num_kv_heads // tp)

    def numbers_per_position(self, tp: int) -> int:
        """Numbers that one layer keeps for a position on each of ``tp`` GPUs."""
        if self.latent is not None:
            return self.latent.size
        return self.heads_on_a_gpu(tp) * (self.head_dim + (self.v_head_dim or self.head_dim))

    def as_mha(self) -> "Geometry | None":
        """The same model with a K and a V for every query head, or None if these are not known."""
        if self.num_heads is None:
            return None
        return replace(self, num_kv_heads=self.num_heads, latent=None)


def describe(geometry: Geometry) -> str:
    """A geometry in a line of words.

    >>> describe(Geometry(32, 8, 128, num_heads=32))
    'GQA: 32 layers, 8 KV heads of 128 for 32 query heads'
    """
    if geometry.latent is not None:
        what = f"a latent of {geometry.latent.rank} + {geometry.latent.rope_dim} numbers"
    else:
        values = "" if geometry.v_head_dim is None else f" (values of {geometry.v_head_dim})"
        heads = "1 KV head" if geometry.num_kv_heads == 1 else f"{geometry.num_kv_heads} KV heads"
        what = f"{heads} of {geometry.head_dim}{values}"
        if geometry.num_heads is not None:
            what += f" for {geometry.num_heads} query heads"
    layers = "1 layer" if geometry.num_layers == 1 else f"{geometry.num_layers} layers"
    kind = f"{geometry.kind}: " if geometry.kind else ""
    return f"{kind}{layers}, {what}{_window_words(geometry)}"


def _window_words(geometry: Geometry) -> str:
    if geometry.window is None:
        return ""
    which = f"{geometry.windowed_layers} of them" if geometry.is_hybrid else "all of them"
    return f"; {which} see the last {geometry.window:,} positions only"

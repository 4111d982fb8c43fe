"""The shape of the model, in one frozen record.

Small on purpose: a prompt of six characters must pass through Triton's interpreter on a laptop in
well under a second. It keeps what matters to a KV cache: several layers, and fewer KV heads than
query heads. Changing a number here means training again, since the committed weights fit this
shape and no other.
"""

from dataclasses import dataclass

from .tokenizer import VOCAB_SIZE


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Sizes of a CharGPT. Raises ValueError if they do not fit together."""

    vocab_size: int = VOCAB_SIZE
    num_layers: int = 3
    channels: int = 128  # width of the residual stream
    num_heads: int = 4  # query heads
    num_kv_heads: int = 2  # each serves num_heads / num_kv_heads query heads
    head_dim: int = 32
    mlp_channels: int = 352  # about 8/3 of `channels`, usual for a gated MLP
    context: int = 256  # positions 0 ... context - 1
    rope_base: float = 10_000.0
    norm_eps: float | None = None  # added to the mean square in RMSNorm; None: float32's epsilon

    def __post_init__(self) -> None:
        if self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"num_heads {self.num_heads} must be a multiple of num_kv_heads {self.num_kv_heads}"
            )
        if self.head_dim % 2:
            raise ValueError(f"head_dim {self.head_dim} must be even: RoPE turns pairs")

    @property
    def rope_scaling(self) -> None:
        """RoPE as it was trained."""
        return None

    @property
    def attention_bias(self) -> bool:
        """No projection adds a bias, and none in the MLP either."""
        return False

    mlp_bias = attention_bias

    @property
    def end_ids(self) -> tuple[int, ...]:
        """No token ends a text: it was trained on a single long one."""
        return ()

"""The network of the llama family: the course's decoder in other sizes, with their tokenizer.

Nothing in it is new: the residual stream, RMSNorm, grouped-query attention turned by RoPE and the
gated MLP are those of `pagedkv.model.gpt`. What a llama may do in addition: use its embedding as
the output layer too, add biases, and lower the frequencies of RoPE (`rope_scaling.py`).
"""

from pagedkv.language_model import Tokenizer
from pagedkv.model.gpt import Decoder

from .config import LlamaConfig


class Llama(Decoder):
    """A llama-architecture model: a `LanguageModel` like the course's own.

    `name` says which one it is, for the screen: the folder's name.
    """

    config: LlamaConfig

    def __init__(self, config: LlamaConfig, tokenizer: Tokenizer, name: str) -> None:
        super().__init__(config)
        self.tokenizer = tokenizer
        self.name = name
        self.tie()

    def tie(self) -> None:
        """Make output layer and embedding one tensor, where the model has one for both."""
        if self.config.tied:
            self.head.weight = self.embedding.weight

"""Real language models for the same cache and kernels: folders of the llama architecture.

`load_llama(folder)` is the door, and `find_llama()` says whether there is anything behind it. Read
`config.py` for what is supported, `network.py` for the network (it is the course's own, larger),
`weights.py`, `names.py` and `tokenizer.py` for the files. `fetch.py` gets SmolLM2, and
`gguf_file.py` makes a folder of the one file in which it comes. Nobody needs any of this to follow
the course.
"""

from .config import LlamaConfig
from .folder import FoundLlama, find_llama, load_llama
from .network import Llama

__all__ = ["FoundLlama", "Llama", "LlamaConfig", "find_llama", "load_llama"]

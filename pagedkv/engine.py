"""The engine: requests with characters, run through the model on a paged KV cache.

One place joins the three things a turn needs: slots from the cache, logits from the model, and the
token that was selected from them. A selected token stays *pending*, without slot or KV, until
``append`` makes it the next input. Nothing here knows frames, captions or lessons.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from pagedkv.batch import Batch
from pagedkv.block_manager import AppendPlan
from pagedkv.cache import Attended, CacheConfig, PagedKVCache
from pagedkv.checks import require_whole_number
from pagedkv.dense_reference import DenseReference, DenseResult
from pagedkv.events import Listener, TokenSelected, ignore
from pagedkv.execution import execute
from pagedkv.language_model import LanguageModel
from pagedkv.layer_work import LayerWork
from pagedkv.outbox import Outbox

# How many inputs one execution may process, all requests together: a condition of its own, beside
# memory. vLLM's max_num_batched_tokens is in the thousands; this much never binds two prompts.
TOKEN_BUDGET = 128


class NothingPendingError(ValueError):
    """A request was asked to go on, but no output has been selected for it."""


class NoLogitsError(ValueError):
    """A token was to be selected, but the request's last input has not been processed."""


class ContextFullError(ValueError):
    """A request would have more positions than the model was trained for."""


@dataclass(frozen=True, slots=True, eq=False)
class AttentionRecord:
    """One query of one layer, attended twice: by the kernel, and by the dense reference.

    ``query`` [num_heads, head_dim]; ``out`` alike; ``weights`` [num_heads, context_len]. All on the
    CPU: float32 from the kernel, float64 from the reference. ``block_table`` is the request's, and
    ``blocks_in_use`` are all requests', at that moment.
    """

    request: str
    position: int
    layer: int
    query: torch.Tensor
    paged: Attended
    dense: DenseResult
    block_table: tuple[int, ...]
    blocks_in_use: tuple[int, ...]


@dataclass(slots=True)
class _Request:
    """What the engine keeps of a request beside its blocks."""

    token_ids: list[int]  # of every admitted or appended position
    prompt_length: int  # how many of them came with the prompt
    pending_id: int | None = None
    logits: torch.Tensor | None = field(default=None, repr=False)  # [vocab_size], after last input


class Engine:
    """A model, a pool, and the requests between them; attention is checked as it happens.

    ``attention`` holds, for each request alive, the records of its last execution.
    ``token_budget`` is the most inputs that one execution may process. ``watched_layers`` are the
    layers whose attention is recorded and checked (None: all); ``layer_work`` says which backend
    does these and which the others. ``on_event`` hears of a command after it is done; if it raises,
    the command stands.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        block_size: int,
        num_blocks: int,
        free_order: tuple[int, ...] | None = None,
        token_budget: int = TOKEN_BUDGET,
        watched_layers: Iterable[int] | None = None,
        on_event: Listener = ignore,
    ) -> None:
        require_whole_number("token_budget", token_budget, least=1)
        config = model.config
        self.model = model
        self.token_budget = token_budget
        self.layer_work = LayerWork.make(config.num_layers, watched_layers)
        self._outbox = Outbox(on_event)
        self.cache = PagedKVCache(
            CacheConfig(
                num_layers=config.num_layers,
                num_kv_heads=config.num_kv_heads,
                head_dim=config.head_dim,
                block_size=block_size,
                num_blocks=num_blocks,
            ),
            free_order,
            torch_layers=self.layer_work.torch_layers,
            on_event=self._outbox.put,
        )
        self.reference = DenseReference(config.num_layers)
        self.attention: dict[str, tuple[AttentionRecord, ...]] = {}
        self._requests: dict[str, _Request] = {}

    @property
    def requests(self) -> tuple[str, ...]:
        """Names of the requests alive, in order of arrival."""
        return tuple(self._requests)

    def text(self, name: str) -> str:
        """The text of a request's admitted and appended positions."""
        return self.model.tokenizer.decode(self._request(name).token_ids)

    def tokens(self, name: str) -> tuple[str, ...]:
        """The token at each of a request's admitted and appended positions, as it is written."""
        return self.model.tokenizer.pieces(self._request(name).token_ids)

    def prompt_length(self, name: str) -> int:
        """Count the tokens of the prompt that a request, or whoever it came from, began with."""
        return self._request(name).prompt_length

    def pending_token(self, name: str) -> str | None:
        """The selected token that is not an input yet, or None."""
        pending_id = self._request(name).pending_id
        return None if pending_id is None else self.model.tokenizer.pieces([pending_id])[0]

    def logits(self, name: str) -> torch.Tensor:
        """A copy of the logits after a request's last input, [vocab_size] float32 on the CPU.

        Raises ``NoLogitsError`` if that input was not executed yet.
        """
        logits = self._request(name).logits
        if logits is None:
            raise NoLogitsError(f"{name!r} has no logits; execute its inputs first")
        return logits.detach().to("cpu", torch.float32, copy=True)

    def last_attention(self, name: str, layer: int) -> AttentionRecord:
        """The record of a request's last executed input in one layer.

        Raises ValueError for an unknown name, a layer that the model lacks or that is not watched,
        and where nothing of the request was executed yet.
        """
        self._request(name)
        self.layer_work.require_watched(layer)
        if name not in self.attention:
            raise ValueError(f"nothing of {name!r} was executed yet")
        return next(r for r in reversed(self.attention[name]) if r.layer == layer)

    def admit(self, name: str, prompt: str) -> None:
        """Give a new request blocks for its prompt; nothing is computed yet.

        Raises ``OutOfBlocks`` where they are not free, ``ContextFullError`` for a prompt that is
        too long for the model, ValueError for characters that it does not know.
        """
        token_ids = self.model.tokenizer.encode(prompt)
        self._require_context(name, len(token_ids))
        with self._outbox.until_done():
            self.cache.admit(name, len(token_ids))
            self._requests[name] = _Request(token_ids, len(token_ids))

    def append(self, name: str) -> AppendPlan:
        """Make the pending token the next input: it gets a position and a slot, still no KV.

        Raises ``OutOfBlocks`` if that needs a block and none is free, ``NothingPendingError`` if
        no token was selected, ``ContextFullError`` if the model has no position left; nothing
        changes then.
        """
        request = self._request(name)
        if request.pending_id is None:
            raise NothingPendingError(f"{name!r} has no pending token; select one first")
        self._require_context(name, len(request.token_ids) + 1)
        with self._outbox.until_done():
            plan = self.cache.append(name)
            request.token_ids.append(request.pending_id)
            request.pending_id = None
            request.logits = None  # they were those after the input before
        return plan

    def execute(self, *names: str) -> None:
        """Run the model once over everything these requests have allocated but not stored.

        Raises ValueError if there is no name, or one whose request is unknown or has all its
        positions stored, or if they have more inputs than the token budget; nothing is written
        then.
        """
        inputs = {
            name: self._request(name).token_ids[self.cache.num_stored(name) :] for name in names
        }
        num_inputs = sum(map(len, inputs.values()))
        if num_inputs > self.token_budget:
            raise ValueError(
                f"an execution takes {self.token_budget} inputs at most, got {num_inputs}"
            )
        records: list[AttentionRecord] = []

        def observe(
            layer: int,
            batch: Batch,
            query: torch.Tensor,
            key: torch.Tensor,
            value: torch.Tensor,
            attended: Attended,
        ) -> None:
            if not self.layer_work.is_watched(layer):
                return
            for name in inputs:
                rows = list(batch.rows_of(name))
                first = batch.rows[rows[0]].position
                self.reference.append(name, layer, first, key[rows], value[rows])
            records.extend(self._records(layer, batch, query, attended))

        with self._outbox.until_done():
            logits = execute(self.model, self.cache, inputs, observe)
            for name in inputs:
                self.attention[name] = tuple(r for r in records if r.request == name)
                self._requests[name].logits = logits[name]

    def select(self, name: str, rank: int = 0) -> str:
        """Choose the next token: the ``rank``-th most likely, 0 the likeliest. It becomes pending.

        Raises ``NoLogitsError`` if the request's last input was not executed yet, ValueError for a
        rank that the vocabulary does not have; nothing changes then.
        """
        require_whole_number("rank", rank, least=0, most=self.model.config.vocab_size - 1)
        # The likeliest first; of equal ones the lower id, on every device.
        order = self.logits(name).sort(descending=True, stable=True).indices  # [vocab_size]
        return self.choose(name, int(order[rank]))

    def choose(self, name: str, token_id: int) -> str:
        """Make this token the next one, whoever picked it. It becomes pending, in another's place.

        Raises ``NoLogitsError`` if the request's last input was not executed yet, ValueError for
        an id that the vocabulary does not have; nothing changes then.
        """
        require_whole_number("token_id", token_id, least=0, most=self.model.config.vocab_size - 1)
        logits = self.logits(name)
        before = (logits > logits[token_id]).sum() + (logits[:token_id] == logits[token_id]).sum()
        rank = int(before)  # as ``select`` counts
        self._request(name).pending_id = token_id
        token = self.model.tokenizer.pieces([token_id])[0]
        self._outbox.put(TokenSelected(name, token, rank))
        return token

    def fork(self, parent: str, child: str) -> None:
        """Start ``child`` from ``parent``'s stored positions, every block shared.

        Raises ``NotStoredError`` if the parent has an input that was not processed yet, ValueError
        if it is unknown or the child's name is taken.
        """
        with self._outbox.until_done():
            self.cache.fork(parent, child)
            self.reference.fork(parent, child)
            source = self._requests[parent]
            self._requests[child] = _Request(
                list(source.token_ids), source.prompt_length, logits=source.logits
            )

    def finish(self, name: str) -> None:
        """End a request and give its blocks back. Raises ValueError for an unknown name."""
        with self._outbox.until_done():
            self.cache.free(name)
            self.reference.drop(name)
            self.attention.pop(name, None)
            del self._requests[name]

    def _request(self, name: str) -> _Request:
        self.cache.num_stored(name)  # an unknown name is the manager's error
        return self._requests[name]

    def _require_context(self, name: str, num_tokens: int) -> None:
        context = self.model.config.context
        if num_tokens > context:
            raise ContextFullError(
                f"{name!r} cannot have {num_tokens} positions; the model's context has {context}"
            )

    def _records(
        self, layer: int, batch: Batch, query: torch.Tensor, attended: Attended
    ) -> list[AttentionRecord]:
        """Put the dense result beside the kernel's, row by row."""
        cache = self.cache
        tables = {name: cache.block_table(name) for name in batch.requests}
        in_use = tuple(b for b in range(cache.num_blocks) if cache.ref_count(b) > 0)
        records = []
        for i, row in enumerate(batch.rows):
            own = Attended(attended.out[i].cpu(), attended.weights[i, :, : row.context_len].cpu())
            dense = self.reference.attend(row.request, layer, query[i], row.context_len)
            records.append(
                AttentionRecord(
                    request=row.request,
                    position=row.position,
                    layer=layer,
                    query=query[i].cpu(),
                    paged=own,
                    dense=dense,
                    block_table=tables[row.request],
                    blocks_in_use=in_use,
                )
            )
        return records

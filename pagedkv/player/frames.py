"""A trace's frames as the browser gets them, described in order; a trace may grow meanwhile.

Blocks and requests change little from frame to frame, so each distinct one stands once in
``blocks`` or ``groups`` and frames refer to it by index; the browser redraws only what differs.
"""

from collections.abc import Collection

from pagedkv.events import RequestFinished
from pagedkv.player.attention_strip import attention_data
from pagedkv.player.blocks import BlockFacts, block_data, blocks_facts
from pagedkv.player.captions import CaptionReader
from pagedkv.player.check_and_execution import check_data, execution_data
from pagedkv.player.comparison import comparison_data
from pagedkv.player.contiguous_strip import contiguous_data
from pagedkv.player.interned import Interned
from pagedkv.player.json_text import Data, as_text
from pagedkv.player.ledger import ledger_data, mark_changes
from pagedkv.player.leftovers import Leftovers
from pagedkv.player.legend import legend_data
from pagedkv.player.lookups import lookup_data
from pagedkv.player.request_groups import group_data
from pagedkv.player.room import Room
from pagedkv.player.roster import Roster
from pagedkv.player.text import say
from pagedkv.player.what_if import what_if_data
from pagedkv.player.worked_score import worked_data
from pagedkv.settings import Settings
from pagedkv.trace.first_look import FirstLook
from pagedkv.trace.frame import Frame
from pagedkv.trace.participants import participants


class DescribedFrames:
    """Frames in order, each as JSON text, for what depends on those before.

    Who comes later changes nothing in what is described: no frame names whom it does not know.
    """

    def __init__(self, settings: Settings) -> None:
        self.texts: list[str] = []  # a frame each
        self.blocks, self.groups = Interned(), Interned()
        self.roster, self.room, self.first_look = Roster(()), Room(), FirstLook()
        self._settings = settings
        self._places: dict[BlockFacts, int] = {}  # in ``blocks``, of what was described already
        self._reader = CaptionReader(self.roster)
        self._leftovers = Leftovers()
        self._ledger: list[Data] | None = None
        self._lanes: dict[str, int | None] = {}
        self._ended: dict[int | None, str] = {}  # by lane

    def copy(self) -> "DescribedFrames":
        """Another one that goes on from here by itself."""
        twin = DescribedFrames(self._settings)
        twin.texts = list(self.texts)
        twin.blocks, twin.groups = self.blocks.copy(), self.groups.copy()
        twin.roster, twin.room = self.roster, self.room.copy()
        twin.first_look = self.first_look.copy()
        twin._places = dict(self._places)
        twin._reader, twin._leftovers = self._reader.copy(), self._leftovers.copy()
        twin._ledger, twin._lanes = self._ledger, self._lanes
        twin._ended = dict(self._ended)
        return twin

    def go_on(self, frames: Collection[Frame]) -> None:
        """Describe the frames that come next; a caption may name whoever takes part in them."""
        self.roster = Roster(tuple(dict.fromkeys((*self.roster.names, *participants(frames)))))
        self._reader.meet(self.roster)
        for frame in frames:
            self.room.learn(frame)
            self.first_look.learn(frame)
        self._lanes = self.room.lanes(self.roster)
        self.texts += [as_text(self._frame(frame)) for frame in frames]

    def _frame(self, frame: Frame) -> Data:
        roster, leftovers = self.roster, self._leftovers
        leftovers.learn(frame)
        self._ledger = mark_changes(ledger_data(frame, self._settings), self._ledger)
        return {
            "title": frame.title,
            "caption": self._reader.runs(frame.caption, frame.state),
            "blocks": [self._block(facts) for facts in blocks_facts(frame, leftovers)],
            "groups": self._groups(frame),
            "waiting": roster.indices(frame.state.waiting),
            "focus": _focus(frame),
            "legend": legend_data(frame),
            "ledger": self._ledger,
            "contiguous": contiguous_data(frame, roster),
            "check": check_data(frame.check, roster),
            "execution": execution_data(frame.execution, roster),
            "whatIf": what_if_data(frame, roster, self._reader),
            "lookup": lookup_data(frame.lookup, roster),
            "worked": worked_data(frame.worked_score, roster),
            "comparison": comparison_data(frame.comparison),
            "attention": attention_data(frame, roster),
        }

    def _block(self, facts: BlockFacts) -> int:
        place = self._places.get(facts)
        if place is None:
            place = self._places[facts] = self.blocks.place(block_data(facts, self.roster))
        return place

    def _groups(self, frame: Frame) -> list[int | str | None]:
        """Per request of the roster: its group, words if it has ended, None if not there.

        A request that has ended is named only until another one takes its lane. Those at the end
        who are not there are left out, whether they are in the roster already or not.
        """
        here = {request.name: request for request in frame.state.requests}
        self._note_endings(frame, here.keys())
        groups: list[int | str | None] = [
            self.groups.place(group_data(here[name], frame, self.roster)) if name in here else None
            for name in self.roster.names
        ]
        for name in self._ended.values():
            groups[self.roster.index(name)] = say("ended")
        while groups and groups[-1] is None:
            groups.pop()
        return groups

    def _note_endings(self, frame: Frame, here: Collection[str]) -> None:
        for event in frame.events:
            if isinstance(event, RequestFinished) and event.request not in here:
                self._ended[self._lanes[event.request]] = event.request
        for name in here:
            self._ended.pop(self._lanes[name], None)


def _focus(frame: Frame) -> int | None:
    """Return the first block with a slot written now, for boards too long to see at once."""
    for block in frame.state.blocks:
        if any(slot.written_now for slot in block.slots):
            return block.block_id
    return None

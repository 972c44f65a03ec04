"""P16: what a turn cites was shown to it in this turn, whatever the model wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.domain import Answer
from agent.ports import Frame
from agent.stopwatch import Stopwatch
from agent.turn import run_turn
from connectors.feishu.markup import card_writer
from connectors.markup.renderer import IncrementalRenderer
from connectors.markup.writer import Writer
from connectors.slack.markup import markdown_writer
from tests.fakes.desk import PlainPlace, asked
from tests.fakes.loop import passage
from tests.fakes.scripted_model import Played, ScriptedModel, call, reply

SHOWN = [f"kb-{n}" for n in range(4)]
NEVER = ["kb-9", "zz", "kb-", "1"]
MARKER = re.compile(r"\[src:([\w.-]+(?:, [\w.-]+)*) *\]", re.ASCII)
"""A citation. Markers inside a broken-off marker are left out: resolving them is open."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What the searches of a turn find, step by step, and what the model then writes."""

    found: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.words)

    def script(self) -> list[Played]:
        steps = range(len(self.found))
        return [*(reply(call("search", {"query": f"q{n}"}, id=f"c{n}")) for n in steps), self.text]


def marker(ids: Sequence[str]) -> str:
    return f"[src:{', '.join(ids)}]"


IDS = st.lists(st.sampled_from([*SHOWN, *NEVER]), min_size=1, max_size=3)
WORDS = st.one_of(
    IDS.map(marker),
    st.sampled_from(["Yes ", "No. ", "\n\n", "- item ", "**bold** ", "]", "住宿 ", " "]),
)
TRANSCRIPTS = st.builds(
    Transcript,
    st.lists(st.lists(st.sampled_from(SHOWN), max_size=3).map(tuple), max_size=3).map(tuple),
    st.lists(WORDS, max_size=12).map(lambda w: ("Answer: ", *w)),
)


async def played(transcript: Transcript) -> tuple[Answer, Frame]:
    """The turn's answer and its last frame."""
    with TemporaryDirectory() as folder:
        place = PlainPlace(Path(folder), ScriptedModel(transcript.script(), piece=3))
        place.library.found = {
            f"q{n}": tuple(passage(s) for s in ids) for n, ids in enumerate(transcript.found)
        }
        record = await place.begun(asked("who is on call?"))
        desk, _ = await place.desk(record)
        outcome = await run_turn(desk, record, Stopwatch(desk.clock))
        [frame] = place.talk.done
        return outcome.answer, frame


@given(TRANSCRIPTS)
@settings(max_examples=60, deadline=None)
async def test_every_marker_resolves_to_a_source_of_this_turn(transcript: Transcript) -> None:
    answer, frame = await played(transcript)
    seen = {source for step in transcript.found for source in step}
    left = MARKER.findall(answer.text)
    assert set(left) <= seen, "an unknown id is gone"
    assert [c.source.source for c in answer.citations] == list(dict.fromkeys(left))
    assert [c.n for c in answer.citations] == list(range(1, len(answer.citations) + 1))
    assert frame.text == answer.text
    assert set(frame.sources or {}) == seen
    wanted = {i for ids in MARKER.findall(transcript.text) for i in ids.split(", ")} & seen
    assert wanted <= set(left), "a source that was shown and cited stays cited"


@given(TRANSCRIPTS, st.sampled_from([card_writer, markdown_writer]))
@settings(max_examples=60, deadline=None)
async def test_numbers_stay_while_the_answer_grows(
    transcript: Transcript, writer: Callable[[], Writer]
):
    answer, frame = await played(transcript)
    growing = IncrementalRenderer(writer(), frame.sources or {})
    numbers: list[dict[str, int]] = []
    for end in range(len(transcript.text) + 1):
        growing.render(transcript.text[:end])
        numbers.append(dict(growing.numbering.numbers))
    growing.render(transcript.text, final=True)
    numbers.append(dict(growing.numbering.numbers))
    for before, after in pairwise(numbers):
        assert before.items() <= after.items()
    assert numbers[-1] == {c.source.source: c.n for c in answer.citations}

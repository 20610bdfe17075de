"""The scheduler alone, with a crew that does what the test says."""

import pytest
from made_records import made

from noiseproof.bench import load_grid
from noiseproof.bench.engines import scheduler
from noiseproof.bench.engines.scheduler import Broken, Busy, Died, Mistake, News, Result, schedule
from noiseproof.progress import SILENT, Progress

CELLS = load_grid("digits-symmetric").select(rows=["CE"]).cells()[:6]


class Scripted:
    """Answers for each cell what it is told to, one answer after the other, then a result."""

    def __init__(self, slots=1, on_start=None, answers=None):
        self.slots, self.on_start, self.answers = slots, on_start or {}, answers or {}
        self.at_work, self.begun, self.most = {}, [], 0

    def start(self, slot, cell):
        assert slot not in self.at_work
        if self.on_start.get(cell):
            return self.on_start[cell].pop(0)
        self.at_work[slot] = cell
        self.begun.append(cell)
        self.most = max(self.most, len(self.at_work))
        return None

    def listen(self, seconds):
        slot, cell = next(iter(self.at_work.items()))
        if self.answers.get(cell):
            message = self.answers[cell].pop(0)
        else:
            message = Result(made(cell, 0.5), ran=True)
        if not isinstance(message, News):
            del self.at_work[slot]
        yield slot, message


class Heard(Progress):
    def __init__(self):
        self.said, self.notes = [], []

    def say(self, line):
        self.said.append(line)

    def update(self, done, total, note=""):
        self.notes.append((done, total, note))


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch):
    monkeypatch.setattr(scheduler, "PATIENCE", 0.0)


@pytest.mark.parametrize("slots", [1, 3, 9])
def test_every_cell_is_run_once_and_in_order(slots):
    crew, heard = Scripted(slots), Heard()
    tally = schedule(CELLS, crew, heard)
    assert crew.begun == list(CELLS)
    assert crew.most == min(slots, len(CELLS))
    assert (tally.ran, tally.lost) == (6, {})
    assert list(tally.records) == [cell.key for cell in CELLS]
    assert heard.said[0] == "6 cells to run" + (f", {slots} at once" if slots > 1 else "")
    assert [line.split(":")[0] for line in heard.said[1:]] == [
        f"{n}/6 {cell}".split(":")[0] for n, cell in enumerate(CELLS, start=1)
    ]
    assert heard.notes[-1] == (6, 6, "")


def test_cells_may_be_endless():
    class Endless:
        def __len__(self):
            return 10**9

        def __iter__(self):
            for seed in range(10**9):
                yield CELLS[0].with_seed(seed)

    stop = Scripted(answers={CELLS[0].with_seed(5): [Mistake(KeyboardInterrupt())]})
    with pytest.raises(KeyboardInterrupt):
        schedule(Endless(), stop, SILENT)
    assert len(stop.begun) == 6


def test_what_dies_is_tried_again_twice_and_after_the_others():
    died = Died("its process died", "signal 9")
    crew = Scripted(answers={CELLS[0]: [died] * 9, CELLS[1]: [News(1, 0.3), died]})
    heard = Heard()
    tally = schedule(CELLS, crew, heard)
    assert tally.lost == {CELLS[0]: "its process died 3 times (signal 9)"}
    assert (tally.ran, len(tally.records)) == (5, 5)
    assert crew.begun[:6] == list(CELLS)
    assert sorted(map(str, crew.begun[6:])) == sorted(map(str, [CELLS[0], CELLS[0], CELLS[1]]))
    assert sum("to be tried again" in line for line in heard.said) == 3
    assert (0, 6, f"{CELLS[1]}, epoch 1/60, test 30.00%") in heard.notes


def test_what_another_process_is_at_work_on_is_waited_for():
    found = Result(made(CELLS[1], 0.7), ran=False)
    crew = Scripted(on_start={CELLS[0]: [Busy()] * 5, CELLS[1]: [Busy(), found]},
                    answers={CELLS[2]: [Busy()]})  # fmt: skip
    tally = schedule(CELLS[:3], crew, SILENT)
    assert (tally.ran, len(tally.records), tally.lost) == (2, 3, {})
    assert tally.records[CELLS[1].key].accuracy == pytest.approx(0.7, abs=1 / 355)


def test_an_error_of_one_cell_loses_that_cell():
    crew = Scripted(answers={CELLS[2]: [Broken("KeyError: 'x'")]})
    tally = schedule(CELLS, crew, SILENT)
    assert tally.lost == {CELLS[2]: "KeyError: 'x'"}
    assert tally.ran == 5


def test_the_record_of_another_cell_is_no_result():
    answers = {CELLS[1]: [Result(made(CELLS[0], 0.5), ran=False)]}
    tally = schedule(CELLS, Scripted(answers=answers), SILENT)
    assert list(tally.lost) == [CELLS[1]]
    assert CELLS[1].key not in tally.records


def test_a_mistake_ends_it():
    crew = Scripted(answers={CELLS[2]: [Mistake(OSError(28, "No space left"))]})
    with pytest.raises(OSError, match="No space left"):
        schedule(CELLS, crew, SILENT)
    assert crew.begun == list(CELLS[:3])

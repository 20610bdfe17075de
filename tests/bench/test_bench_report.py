import re

import pytest
from browser import open_page
from made_records import Made, fill, made

from noiseproof.bench import load_grid
from noiseproof.bench.collect import Collected
from noiseproof.bench.pages.audits import audit_row
from noiseproof.bench.pages.findings import findings
from noiseproof.bench.pages.report import contents
from noiseproof.cli import main
from noiseproof.results import Store

NOISES = ["none", "symmetric:0.4", "symmetric:0.8"]
#: By row and noise, in per cent, as if run with each seed.
FOUND = {
    "CE": (99.0, 70.0, 21.3),
    "GCE": (98.5, 95.0, 80.0),
    "AGCE": (98.0, 97.5, 96.8),
}


def accuracy(cell):
    """Return a share that is 0.1 point below for seed 1, and as much above for seed 3."""
    share = FOUND[cell.row][NOISES.index(cell.noise)] / 100
    return share + (cell.seed - 2) / 1000


@pytest.fixture
def grid():
    return load_grid("digits-symmetric").select(rows=list(FOUND), noises=NOISES)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main(["bench", "report", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_the_page_in_a_browser(run, grid, tmp_path):
    fill(tmp_path / "runs", grid.select(seeds=[1, 2]), accuracy)
    code, out, err = run("digits-symmetric", "--rows", "CE,GCE,AGCE", "--out", "r.html")
    assert (code, err) == (0, "")
    assert out == "wrote r.html: 1 grid, 18 runs done, 27 missing\n"
    text = (tmp_path / "r.html").read_text()
    assert not re.findall(r"https?://", text)
    seen = open_page(tmp_path / "r.html", tmp_path / "browser")
    assert (seen.console, seen.requests) == ((), ())
    assert "18 of 45 runs are done; 27 missing." in seen.text
    # Seeds 1 and 2 are 0.1 point below the mean and on it, to the nearest of 355 samples.
    assert (
        "From no noise to symmetric:0.8, CE fell from 98.87 % to 21.27 % (-77.61 points)"
        in seen.text
    )
    assert "AGCE(a=4, q=0.2)" in seen.text
    assert "At epoch 60: CE 21.27 %, GCE 80.00 %, AGCE 96.76 %." in seen.text
    command = "noiseproof bench run digits-symmetric --rows CE,GCE,AGCE --recipe quick --store runs"
    assert command in seen.text


def test_findings_are_what_the_numbers_say(grid):
    store = Made(grid, accuracy, failed=lambda cell: cell.row == "GCE" and cell.noise == "none")
    said = findings(Collected(grid, store.records()))
    assert said == (
        "24 of 27 runs are done; 3 failed.",
        "From no noise to symmetric:0.8, CE fell from 98.97 % to 21.31 % (-77.65 points), the "
        "most; AGCE fell from 98.03 % to 96.81 % (-1.22 points), the least.",
        "More than 20 points were lost by CE (-77.7).",
        "Less than 5 points were lost by AGCE (-1.2).",
        "Under symmetric:0.8, CE gives 90.0 % of the wrong labels back in the last epoch, "
        "GCE 5.0 %.",
        "The paper has no such table.",
    )


def test_agreement_with_the_paper_is_counted():
    # The paper has CE 22.66 and AGCE 96.59 under symmetric noise of 0.8, and 99.15, 98.91 clean.
    grid = load_grid("mnist-symmetric").select(
        rows=["CE", "AGCE"], noises=["none", "symmetric:0.8"], seeds=[1]
    )
    found = {("CE", "symmetric:0.8"): 0.3266, ("AGCE", "symmetric:0.8"): 0.9600}
    store = Made(grid, lambda cell: found.get((cell.row, cell.noise)))
    said = findings(Collected(grid, store.records()))
    assert said[-2].startswith(
        "1 of 2 cells that the paper has too are within 1 point of its number"
    )
    assert said[-1] == (
        "The largest difference is CE's under symmetric:0.8: 32.66 here, 22.66 in the paper."
    )


def test_a_loss_stands_beside_its_audit(grid):
    collected = Collected(grid, Made(grid, accuracy).records())
    audited = {row.name: audit_row(collected, row) for row in grid.rows}
    # r of AGCE(a=4, q=0.2) is (4/5)^0.8, which tolerates K - 1 = 9 times r / (1 + 9 r).
    r = 0.8**0.8
    assert audited["AGCE"].audit.ratio == pytest.approx(r)
    assert audited["AGCE"].audit.max_symmetric_rate == pytest.approx(9 * r / (1 + 9 * r), abs=1e-3)
    assert audited["AGCE"].tolerates == (True, True, True)
    assert audited["CE"].tolerates == (True, False, False)
    assert audited["CE"].accuracy == pytest.approx((0.99, 0.70, 0.213), abs=1 / 355)


def test_both_recipes_of_a_grid_are_shown_and_runs_of_no_grid_too():
    paper = load_grid("mnist-symmetric").select(rows=["CE"], noises=["none"], seeds=[1])
    quick = paper.select(recipe="quick")
    (strange,) = paper.select(noises=["pair-flip:0.3"]).cells()
    store = Made(paper, lambda cell: 0.99)
    store.found |= Made(quick, lambda cell: 0.98).found | {strange.key: made(strange, 0.5)}
    found = contents({"mnist-symmetric": load_grid("mnist-symmetric")}, store, named=False)
    assert [s.recipe.name for s in found.sections] == ["paper", "quick"]
    assert [record.noise for record in found.others] == ["pair-flip:0.3"]
    text = found.page("command")
    assert "Deviations from the paper&#39;s recipe:" in text
    assert "pair-flip:0.3" in text
    assert len({s.anchor for s in found.sections}) == 2


def test_a_full_grid_stays_below_two_megabytes(monkeypatch):
    monkeypatch.setattr("noiseproof.bench.pages.section.audit_row", lambda collected, row: None)
    grid = load_grid("cifar10-asymmetric")  # 17 rows, 4 noises, 3 seeds, 120 epochs
    store = Made(grid, lambda cell: 0.5 + cell.seed / 100)
    text = contents({"cifar10-asymmetric": grid}, store).page("command")
    assert len(store.found) == 17 * 4 * 3
    assert len(text.encode()) < 1_000_000


def test_nothing_to_report_is_one_line_with_the_command_that_helps(run, tmp_path, grid):
    code, out, err = run("--out", "r.html")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "noiseproof bench run digits-symmetric --store runs" in err
    fill(tmp_path / "runs", grid.select(rows=["CE"], noises=["none"], seeds=[1]), accuracy)
    code, _, err = run("mnist-symmetric", "--out", "r.html")
    assert code == 2
    assert "noiseproof bench run mnist-symmetric --store runs" in err
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-grid"], "unknown grid 'no-such-grid'"),
        (["--out", "r.pdf"], "expected a name ending .html"),
        (["--out", "no/such/r.html"], "no directory"),
        (["digits-symmetric", "--rows", "AGEC"], "no row 'AGEC'"),
        (["digits-symmetric", "--add-loss", "x"], "expected NAME=LOSS"),
    ],
)
def test_mistakes_are_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_damaged_file_is_said_and_the_rest_is_shown(run, grid, tmp_path):
    small = grid.select(rows=["CE"], noises=["none"])
    fill(tmp_path / "runs", small, accuracy)
    torn = sorted((tmp_path / "runs").glob("*.json"))[0]
    torn.write_text(torn.read_text()[:100])
    why = "damaged, to be run again: not a record, or not all of one"
    code, out, err = run("digits-symmetric", "--rows", "CE", "--noise", "none", "--out", "r.html")
    assert code == 0
    assert "2 runs done, 1 missing" in out
    assert err == f"noiseproof: {torn.relative_to(tmp_path)}.damaged: {why}\n"
    assert f"{torn.name}.damaged: {why}" in (tmp_path / "r.html").read_text()


def test_a_loss_of_the_users_own_is_a_row_and_its_name_is_text(run, tmp_path, grid):
    mine = grid.select(rows=["CE"], noises=["none"], seeds=[1]).with_row("<i>=AGCE(a=2, q=1.2)")
    fill(tmp_path / "runs", mine, lambda cell: 0.5)
    options = ("--rows", "CE,<i>", "--noise", "none", "--seeds", 1, "--out", "r.html")
    code, _, _ = run("digits-symmetric", "--add-loss", "<i>=AGCE(a=2, q=1.2)", *options)
    assert code == 0
    text = (tmp_path / "r.html").read_text()
    assert "&lt;i&gt;" in text
    assert "<i>" not in text
    assert len(Store(tmp_path / "runs").records()) == 2

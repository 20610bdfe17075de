"""The report of a fit, in a browser."""

import html
import json
import re

import numpy as np
import pytest
from browser import open_page
from noisy_tables import QUICK, blobs
from scipy import sparse

from noiseproof.fitting import summary
from noiseproof.fitting.fit import fit
from noiseproof.fitting.page import fit_page as page
from noiseproof.fitting.page.map import _flattened

FRAME, _, WRONG = blobs(90, classes=("cat", "<b>dog</b>", "eel & co"))


@pytest.fixture(scope="module")
def fitted():
    return fit(FRAME, "kind", **QUICK)


def test_the_report_answers_the_four_questions(fitted, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(fitted.report, encoding="utf-8")
    (tmp_path / "browser").mkdir()
    seen = open_page(path, tmp_path / "browser")
    assert seen.console == ()
    assert seen.requests in ((), (path.as_uri(),))
    low, high = (f"{100 * end:.1f}%" for end in fitted.estimate.rate_interval)
    assert f"{low} to {high}" in seen.text
    assert fitted.learned.why in seen.text
    assert f"The model: {fitted.recipe}" in seen.text
    for heading in ("How noisy", "Which model, and why", "How good", "Rows most likely wrong",
                    "What to do next"):  # fmt: skip
        assert heading in seen.text
    for row in fitted.suspects.head(5).itertuples():
        assert f"{row.row} {row.given_label} {row.proposed_label}" in seen.text
        assert f"{FRAME.loc[row.row, 'length']:.5g}" in seen.text  # what is in the row
    assert len(re.findall("<svg", seen.dom)) >= 2


@pytest.mark.parametrize(
    "matrix",
    [
        np.ones((60, 6)), np.repeat(np.eye(2)[np.arange(60) % 2], 3, axis=1), np.zeros((60, 9)),
        np.outer(np.arange(60), [1, -1, 1, -1, 1, -1]), np.eye(6)[np.arange(60) % 6],
    ],
)  # fmt: skip
def test_rows_that_are_alike_in_many_ways_have_a_place_on_the_map(matrix):
    for form in (matrix, sparse.csr_matrix(matrix)):
        places = _flattened(form)
        assert places.shape == (60, 2)
        assert ((places >= 0) & (places <= 1)).all()
        _, first, same = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
        assert places == pytest.approx(places[first[same.ravel()]], abs=1e-6)


def test_names_of_classes_are_text_not_markup(fitted):
    assert "<b>dog</b>" not in fitted.report
    assert "&lt;b&gt;dog&lt;/b&gt;" in fitted.report


def test_where_noise_cannot_be_told_no_number_of_it_is_shown():
    X, y = np.random.default_rng(0).normal(size=(90, 4)), np.arange(90) % 2
    guessed, sure = fit(X, y), fit(X + 9 * y[:, None], y)
    assert (guessed.estimate.decisive, sure.estimate.decisive) == (False, True)
    for text in ("Clean level", "how labels go wrong"):
        assert text in sure.report
        assert text not in guessed.report
    assert guessed.estimate.warnings[0] in guessed.report


def test_of_very_many_classes_those_predicted_least_are_listed_and_it_is_said(
    fitted, monkeypatch, tmp_path
):
    monkeypatch.setattr(page, "CLASSES", 2)
    path = tmp_path / "report.html"
    path.write_text(page.fit_page(fitted), "utf-8")
    table = open_page(path, tmp_path).dom.partition('<table id="recalls">')[2].partition("</table>")
    assert "The 2 of 3 classes that are predicted least." in table[0]
    shown = re.findall(r"<tr><td>(.*?)</td>", table[0])
    least = sorted(fitted.recalls, key=lambda name: fitted.recalls[name])[:2]
    assert [html.unescape(name) for name in shown] == least


def test_noisy_accuracy_is_never_called_accuracy_alone(fitted):
    words = re.sub(r"<[^>]+>", " ", fitted.report)
    assert "on held-out noisy labels" in words
    assert "on true labels, estimated" in words
    assert "measured" not in words.split("Rows most likely wrong")[0].replace("is measured", "")


def test_a_row_is_known_by_its_text():
    notes = [f"the one called {i} was seen " + "again and " * 20 for i in range(len(FRAME))]
    fitted = fit(FRAME.assign(note=notes, gap=None), "kind", **QUICK, text="note")
    assert f"called {fitted.suspects.row[0]} was seen again and again" in fitted.report
    assert "…</td>" in fitted.report  # long texts are cut


def test_per_cent_is_written_in_one_way(fitted):
    """Lines are shared by the page and the terminal, so both write 21.3%."""
    words = re.sub(r"<svg.*?</svg>|<style.*?</style>|<[^>]+>", " ", fitted.report, flags=re.DOTALL)
    lines = [line for _, line in summary.lines(fitted)]
    assert any("%" in line for line in lines)
    assert not re.search(r"\d %", "\n".join([words, *lines, json.dumps(fitted.summary)]))

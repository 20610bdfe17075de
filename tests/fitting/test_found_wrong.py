"""Labels that a person found wrong are wrong: no estimate, and no sentence, says otherwise."""

import numpy as np
import pandas as pd
import pytest
from noisy_tables import QUICK, blobs

from noiseproof.fitting.fit import fit
from noiseproof.fitting.page.to_review import review_data
from noiseproof.fitting.review.found_wrong import at_least
from noiseproof.fitting.summary import lines
from noiseproof.noise import estimate


@pytest.mark.parametrize("rows", [40, 400])
@pytest.mark.parametrize("apart", [0.5, 3.0, 8.0])  # from hopeless to easy
@pytest.mark.parametrize("rate", [0.0, 0.15, 0.4])
def test_what_was_counted_bounds_every_estimate(rows, apart, rate):
    """However the rows were chosen, flips that a person saw are there."""
    rng = np.random.default_rng(rows)
    true = rng.integers(0, 3, rows)
    scores = rng.normal(size=(rows, 3)) + apart * np.eye(3)[true]
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    given = np.where(rng.random(rows) < rate, (true + 1) % 3, true)
    found = estimate(given, p)
    wrong = np.flatnonzero(given != true)
    for some in (wrong, wrong[:1], wrong[::2], np.flatnonzero(given == true)[:9], np.arange(rows)):
        noise = at_least(found, given[some], true[some])
        counted = np.zeros((3, 3))
        np.add.at(counted, (true[some], given[some]), 1 / rows)
        counted *= 1 - np.eye(3)
        assert (noise.joint >= counted - 1e-9).all()
        assert noise.rate >= found.rate - 1e-9
        assert noise.rate_interval[0] >= max(counted.sum(), found.rate_interval[0]) - 1e-9
        assert noise.rate_interval[0] <= noise.rate + 1e-9
        assert noise.rate <= noise.rate_interval[1] + 1e-9
        assert noise.draws[:, 0].min() >= counted.sum() - 1e-9
        assert noise.joint.sum() == pytest.approx(1)


@pytest.mark.parametrize("how", ["reviewed", "trusted"])
def test_the_report_never_says_that_fewer_are_wrong_than_were_found(how, tmp_path):
    frame, true, wrong = blobs(200, rate=0.3, classes=("cat", "dog"))
    frame[["length", "weight"]] /= 3  # so hard that noise cannot be told from difficulty
    first = fit(frame, "kind", **QUICK)
    assert first.estimate.rate_interval[0] == 0
    rows = np.flatnonzero(wrong)[:12]
    table = pd.DataFrame({"row": rows, "label": true[rows]})
    if how == "reviewed":
        table["given_label"] = frame["kind"][rows].to_numpy()
        table = table.assign(decision="other", list="doubtful")
        table["fingerprint"] = review_data(first)["fingerprint"]
        table.to_csv(tmp_path / "reviewed.csv", index=False)
    given = tmp_path / "reviewed.csv" if how == "reviewed" else table
    fitted = fit(frame, "kind", **QUICK, **{how: given})
    least = len(rows) / len(frame)
    assert fitted.summary["noise"]["rate_interval"][0] >= least - 1e-6
    said = " ".join(line for step, line in lines(fitted) if step == "estimate")
    assert " 0%" not in f" {said}"
    assert " 0.0%" not in f" {said}"
    assert f"{100 * fitted.estimate.rate_interval[0]:.1f}% to" in fitted.report.replace("\n", " ")
    if how == "reviewed":
        assert fitted.change.after.rate[1] >= least - 1e-6


@pytest.mark.parametrize(("rows", "classes"), [(200, 3), (110, 4), (97, 5), (300, 7)])
def test_all_labels_may_have_been_found_wrong(rows, classes):
    true = np.arange(rows) % classes
    given = (true + 1) % classes
    probabilities = np.full((rows, classes), 0.1 / (classes - 1))
    probabilities[np.arange(rows), true] = 0.9
    found = at_least(estimate(given, probabilities), given, true)
    assert found.rate_interval[1] == pytest.approx(1)
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1)

"""A review, and labels that were changed after it without a look at the rows."""

import csv

import pandas as pd
import pytest
from noisy_tables import QUICK, blobs

from noiseproof.cli import main
from noiseproof.errors import DataWarning
from noiseproof.fitting.fit import fit
from noiseproof.fitting.page.to_review import SAMPLE, review_data

FRAME, TRUE, WRONG = blobs(200)


def written(data, decided, path):
    """Write what the page exports of a review: all that was decided before and now."""
    before = data["before"]
    lines = {b["row"]: (b["given"], b["decision"], b["label"], b["random"]) for b in before}
    for at in decided:
        row = data["rows"][at]
        given, true = data["classes"][row["g"]], TRUE[int(row["n"])]
        told = ("other", true) if given != true else ("keep", given)
        lines[row["n"]] = (given, *told, at in data["random"])
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["row", "given_label", "decision", "label", "list", "fingerprint"])
        for row, (*told, random) in lines.items():
            out.writerow([row, *told, "random" if random else "doubtful", data["fingerprint"]])
    return path


def test_a_random_list_does_not_speak_for_labels_changed_since(tmp_path):
    path = tmp_path / "pets.csv"
    FRAME.to_csv(path, index=False)
    fitted = fit(path, "kind", **QUICK)
    fitted.save(tmp_path / "pets-fit")
    data = review_data(fitted)
    made = written(data, [*data["doubtful"][:10], *data["random"]], tmp_path / "r.csv")
    options = ["--reviewed", str(made), "--fit", str(tmp_path / "pets-fit")]
    rates = {}
    for name, more in (("reviewed", []), ("proposed", ["--proposals", "0.5"])):
        out = tmp_path / f"{name}.csv"
        assert main(["clean", str(path), *options, *more, "--out", str(out), "--quiet"]) == 0
        left = pd.read_csv(out)["kind"] != TRUE
        if more:
            with pytest.warns(DataWarning, match="nobody reviewed have changed"):
                again = fit(out, "kind", reviewed=made, **QUICK)
        else:
            again = fit(out, "kind", reviewed=made, **QUICK)
            assert again.reviewed.random.sum() == SAMPLE
        low, high = again.estimate.rate_interval
        rates[name] = (left if more else WRONG).mean()
        assert low <= rates[name] <= high
    assert again.reviewed.rate is None
    assert rates["proposed"] < rates["reviewed"] / 2
    # The next page goes on from there, with random rows that nobody has seen.
    data = review_data(again)
    assert not any(one["random"] for one in data["before"])
    fresh = {data["rows"][at]["n"] for at in data["random"]}
    assert not fresh & {one.row for one in again.reviewed.decisions if one.random}
    made = written(data, data["random"], tmp_path / "again.csv")
    last = fit(out, "kind", reviewed=made, **QUICK)  # no warning any more
    assert last.reviewed.random.sum() == SAMPLE

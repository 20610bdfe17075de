"""The reviewer in the loop: the page by real key presses, its CSV fed back to fit and clean."""

import base64
import csv
import io
import json
import os

import numpy as np
import pandas as pd
import pytest
from driven_browser import Browser
from noisy_tables import QUICK, blobs
from PIL import Image
from scipy.stats import binomtest

from noiseproof.cli import main
from noiseproof.errors import DataError
from noiseproof.fitting.fit import fit
from noiseproof.fitting.page.pictures import Pictures
from noiseproof.fitting.page.to_review import SAMPLE, lists, review_data
from noiseproof.fitting.review.reviewed import fingerprint, read_decisions
from noiseproof.prepare.samples import Samples
from noiseproof.shown import printable

CLASSES = ("cat", "<img src=x onerror=alert(1)>", "=eel & co")
FRAME, TRUE, WRONG = blobs(200, classes=CLASSES)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a table whose classes have hostile names, and its fit."""
    home = tmp_path_factory.mktemp("home")
    path = home / "pets & <b>co.csv"
    FRAME.to_csv(path, index=False)
    fitted = fit(path, "kind", **QUICK)
    fitted.save(home / "pets-fit")
    return home, path, fitted


@pytest.fixture
def page(home, tmp_path):
    folder, _, fitted = home
    with Browser(tmp_path / "browser") as browser:
        browser.open(folder / "pets-fit" / "report.html")
        browser.run("document.getElementById('review').focus()")
        yield browser, lists(fitted)


def status(browser):
    return browser.run("document.getElementById('progress-words').textContent")


def exported(browser):
    browser.press("d")
    with browser.downloaded("reviewed.csv").open(newline="", encoding="utf-8") as file:
        return {row["row"]: row for row in csv.DictReader(file)}


def test_keys_decide_undo_and_outlive_a_reload(home, page):
    browser, (doubtful, _) = page
    suspects = home[2].suspects
    browser.press("k", "p", "s", "o", *"eel", "Enter")
    changed = 1 + (suspects["given_label"][3] != "=eel & co")
    said = f"4 of {len(doubtful)} decided; {changed} label{'s'[: changed - 1]} corrected"
    assert status(browser).startswith(said)
    browser.press("p", "u", "ArrowRight", "ArrowLeft", "1")  # the first class by its number
    found = exported(browser)
    rows = [str(row) for row in doubtful[:5]]
    assert set(found) == set(rows)
    assert [found[row]["decision"] for row in rows[:3]] == ["keep", "proposal", "skip"]
    assert found[rows[0]]["label"] == found[rows[0]]["given_label"]
    assert found[rows[1]]["label"].removeprefix("'") == suspects["proposed_label"][1]
    assert found[rows[2]]["label"] == ""
    assert found[rows[3]]["label"] == "'=eel & co"  # no spreadsheet runs it
    assert found[rows[4]]["label"] == min(CLASSES)
    browser.reload()
    assert status(browser).startswith(f"5 of {len(doubtful)} decided")
    assert browser.complaints == []
    browser.run("document.getElementById('review').focus()")
    browser.press("u", "u")
    assert status(browser).startswith(f"3 of {len(doubtful)} decided")


def test_what_is_next_is_spoken_and_classes_show_their_keys(page):
    browser, (doubtful, _) = page
    now = "document.querySelector('#now[role=status]').textContent"
    assert browser.run(now).startswith(f"row {doubtful[0]}: given ")
    browser.press("k")
    assert browser.run(now).startswith(f"row {doubtful[1]}: given ")
    assert ", proposed " in browser.run(now)
    browser.press("o")
    offered = "[...document.querySelectorAll('#choose-list button')].map(b => b.textContent)"
    keys = {text.partition(" ")[::2] for text in browser.run(offered)}
    assert keys == {(str(k), name) for k, name in enumerate(sorted(CLASSES), start=1)}


def test_two_tabs_of_one_page_keep_what_both_decide(page):
    browser, (doubtful, _) = page
    browser.press("k")
    # What a second tab does: frames of a file may not look into each other.
    browser.run(f"""
        const key = JSON.parse(document.getElementById("review-data").textContent).key;
        const kept = JSON.parse(localStorage.getItem(key));
        kept.decided[{str(doubtful[1])!r}] = {{v: "skip", l: -1, via: "doubtful"}};
        kept.history.push([{str(doubtful[1])!r}, null, "doubtful"]);
        localStorage.setItem(key, JSON.stringify(kept));
    """)
    browser.press("ArrowRight", "p")
    assert status(browser).startswith(f"3 of {len(doubtful)} decided")
    assert len(exported(browser)) == 3


def test_buttons_filters_and_pages(page):
    browser, (doubtful, _) = page
    browser.click("#do-keep")
    browser.click("#do-skip")
    assert status(browser).startswith("2 of")
    browser.run("document.getElementById('filter-open').click()")
    shown = "[...document.querySelectorAll('#cards li')].map(card => card.dataset.row)"
    assert browser.run(shown) == [str(row) for row in doubtful[2:26]]
    browser.run(
        "s = document.getElementById('filter-given'); s.selectedIndex = 1;"
        "s.dispatchEvent(new Event('change'))"
    )
    label = (
        "[...document.querySelectorAll('#cards .labels b:first-of-type')].map(b => b.textContent)"
    )
    assert len(set(browser.run(label))) == 1
    browser.click("#filter-clear")
    browser.click("#page-on")
    assert browser.run(shown) == [str(row) for row in doubtful[24:48]]


def test_names_are_text_and_the_page_asks_for_nothing(page):
    browser, _ = page
    assert browser.run("document.querySelectorAll('#review img, main b b').length") == 0
    assert browser.complaints == []


def changed_page(home, tmp_path, **names):
    """The same page with other names of classes, as a file."""
    text = (home[0] / "pets-fit" / "report.html").read_text("utf-8")
    for old, new in names.items():
        text = text.replace(f">{old}<", f">{new}<").replace(f'"{old}"', json.dumps(new))
    path = tmp_path / "changed.html"
    path.write_text(text, "utf-8")
    return path


def test_signs_that_turn_the_direction_of_writing_are_shown_as_codes(home, page, tmp_path):
    """Else a label reads backwards, and so does what follows it."""
    browser, _ = page
    signs = "\u202a\u202e\u2066\u2069\x07\x9b"
    browser.open(changed_page(home, tmp_path, cat=f"{signs}gpj.exe"))
    browser.run("document.getElementById('review').focus()")
    browser.press("o")
    seen = browser.run("document.getElementById('review').textContent")
    assert not set(seen) & set(signs)
    assert seen.count(printable(signs) + "gpj.exe") > 3  # cards, filters, the list to choose from
    browser.press("Escape", "3")
    assert {row["label"] for row in exported(browser).values()} == {f"{signs}gpj.exe"}


@pytest.mark.parametrize(("media", "width"), [("screen", 1280), ("screen", 320), ("print", 720)])
def test_long_names_leave_everything_within_reach(home, page, tmp_path, media, width):
    """No page is wider than the screen or paper, no column hides behind the first, which stays."""
    browser, _ = page
    browser.open(changed_page(home, tmp_path, cat="A" * 400))
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
        mobile=False,
    )  # fmt: skip
    browser.call("Emulation.setEmulatedMedia", media=media)
    assert browser.run("document.documentElement.scrollWidth") <= width
    boxes = browser.run("""[...document.querySelectorAll("svg.chart, .scroll")].map(box =>
        [box.getBoundingClientRect().width, box.querySelector("td")?.clientWidth ?? 0])""")
    shown = [(room, first) for room, first in boxes if room > 0 or media == "print"]
    assert len(shown) > 4
    assert all(room > 100 and first < 0.6 * room for room, first in shown)


def test_rows_may_have_the_names_of_what_javascript_objects_have(home, page, tmp_path):
    browser, (doubtful, _) = page
    names = ("constructor", "__proto__")
    text = (home[0] / "pets-fit" / "report.html").read_text("utf-8")
    for row, name in zip(doubtful, names, strict=False):
        assert f'"n": "{row}"' in text
        text = text.replace(f'"n": "{row}"', f'"n": "{name}"')
    (tmp_path / "named.html").write_text(text, "utf-8")
    browser.open(tmp_path / "named.html")
    browser.run("document.getElementById('review').focus()")
    assert status(browser).startswith("0 of")
    browser.press("k", "k")
    assert set(exported(browser)) == set(names)
    browser.reload()
    assert status(browser).startswith("2 of")


def test_the_random_list_hides_proposals_and_measures_exactly(home, page):
    browser, (_, random) = page
    fitted = home[2]
    browser.click("#tab-random")
    assert len(random) == SAMPLE
    assert "proposed" not in browser.run("document.getElementById('cards').textContent")
    for row in random[:20]:
        browser.press(key_of(fitted, TRUE[row]))
    wrong = int(WRONG[random[:20]].sum())
    low, high = binomtest(wrong, 20).proportion_ci(method="exact")
    said = browser.run("document.getElementById('measured').textContent")
    assert f"By these 20 rows: {wrong / 20:.1%} ({low:.1%} to {high:.1%})" in said


def key_of(fitted, name):
    return str(list(fitted.model.coding.names).index(name) + 1)


def test_what_was_reviewed_goes_back_into_fit_and_clean(home, page, tmp_path, capsys):
    browser, (doubtful, random) = page
    _, path, fitted = home
    for row in doubtful[:12]:  # doubtful rows first: some are in the random list too
        browser.press(key_of(fitted, TRUE[row]))
    browser.click("#tab-random")
    for row in random[:40]:
        browser.press(key_of(fitted, TRUE[row]))
    browser.press("d")
    reviewed = browser.downloaded("reviewed.csv")
    decisions, _ = read_decisions(reviewed)
    assert {one.row for one in decisions if one.random} == {str(row) for row in random[:40]}
    assert {one.row for one in decisions} == {str(row) for row in {*doubtful[:12], *random[:40]}}

    again = fit(path, "kind", reviewed=reviewed, **QUICK)
    rows = sorted({*doubtful[:12], *random[:40]})
    assert again.reviewed.rows.tolist() == rows
    assert again.reviewed.true.tolist() == [int(key_of(fitted, TRUE[row])) - 1 for row in rows]
    assert again.reviewed.rate.value == WRONG[random[:40]].mean()
    assert not set(again.suspects["row"]) & set(rows)
    assert again.summary["review"]["corrected"] == int(WRONG[rows].sum())
    assert "What the review changed" in again.report
    fresh = lists(again).random  # the next sample goes on where this one ended
    assert fresh[:20] == random[40:]
    assert not set(fresh) & set(random[:40])
    before = review_data(again)["before"]
    assert {one["row"] for one in before} == {str(row) for row in rows}

    out = tmp_path / "clean.csv"
    command = [
        "clean",
        str(path),
        "--label",
        "kind",
        "--reviewed",
        str(reviewed),
        "--out",
        str(out),
    ]
    assert main(command) == 0
    kinds = pd.read_csv(out)["kind"]
    assert (kinds[rows] == TRUE[rows]).all()
    others = np.setdiff1d(np.arange(len(FRAME)), rows)
    assert (kinds[others] == FRAME["kind"][others]).all()
    fit(out, "kind", reviewed=reviewed, **QUICK)  # a cleaned file is still the same data


def test_a_review_of_another_file_is_one_line(home, tmp_path, capsys, monkeypatch):
    _, _, fitted = home
    monkeypatch.chdir(tmp_path)
    blobs(200, seed=3, classes=CLASSES)[0].to_csv("other.csv", index=False)
    line = f"0,cat,keep,cat,random,{fitted.fingerprint}\n"
    (tmp_path / "reviewed.csv").write_text(
        "row,given_label,decision,label,list,fingerprint\n" + line
    )
    command = ["fit", "other.csv", "--label", "kind", "--reviewed", "reviewed.csv"]
    assert main(command) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert "reviewed.csv: was made from other data than other.csv" in err
    assert sorted(os.listdir()) == ["other.csv", "reviewed.csv"]


def test_reviewed_and_trusted_do_not_go_together(home):
    with pytest.raises(Exception, match="give it or --reviewed"):
        fit(FRAME, "kind", reviewed="r.csv", trusted=([0], ["cat"]))


def test_a_row_decided_twice_is_an_error(tmp_path):
    path = tmp_path / "r.csv"
    lines = ["row,given_label,decision,label,list,fingerprint"]
    lines += [f"7,cat,{how},{label},random,x" for how, label in (("keep", "cat"), ("skip", ""))]
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match="row 7 was decided twice"):
        read_decisions(path)


def test_rows_that_were_emptied_in_a_spreadsheet_are_no_decisions(tmp_path):
    path = tmp_path / "r.csv"
    lines = ["row;given_label;decision;label;list;fingerprint;", "7;cat;keep;cat;random;x;"]
    path.write_text("\r\n".join([*lines, ";;;;;;", "", ";;;;;;"]))
    decisions, mark = read_decisions(path)
    assert [one.row for one in decisions] == ["7"]
    assert mark == "x"
    path.write_text(f"{lines[0]}\n;;;;;;\n")
    with pytest.raises(DataError, match="no row has been decided"):
        read_decisions(path)


def test_words_that_speak_for_the_proposal_are_marked(tmp_path):
    numbers = np.random.default_rng(0)
    kinds = {"good": ["superb", "moving", "witty"], "bad": ["tedious", "dull", "clumsy"]}
    common = ["the", "film", "and", "its", "story", "was", "one", "to", "see"]
    rows = []
    for i in range(160):
        true = ("good", "bad")[i % 2]
        words = [*numbers.choice(common, 9), *numbers.choice(kinds[true], 3)]
        numbers.shuffle(words)
        flipped = numbers.random() < 0.15
        rows.append((" ".join(words), ("bad", "good")[i % 2] if flipped else true))
    fitted = fit(pd.DataFrame(rows, columns=["review", "y"]), "y", **QUICK)
    data = review_data(fitted)
    for at in data["doubtful"][:10]:
        row = data["rows"][at]
        proposed = kinds[data["classes"][row["p"]]]
        assert set(row["w"]) & set(proposed)
        assert not set(row["w"]) & set(kinds[data["classes"][row["g"]]])
    path = tmp_path / "report.html"
    path.write_text(fitted.report, encoding="utf-8")
    with Browser(tmp_path / "browser") as browser:
        browser.open(path)
        marked = set(browser.run("[...document.querySelectorAll('mark')].map(m => m.textContent)"))
        assert marked & {*kinds["good"], *kinds["bad"]}


def test_photos_have_thumbnails_and_a_montage(tmp_path):
    numbers = np.random.default_rng(0)
    photos = tmp_path / "photos"
    for i in range(90):
        true, given = i % 2, (i % 2) ^ (numbers.random() < 0.15)
        name = ("<i>dark</i>", "light")[given]
        (photos / name.replace("/", "∕")).mkdir(parents=True, exist_ok=True)
        grey = numbers.integers(0, 90, (12, 20, 3)) + (150 if true else 0)
        file = photos / name.replace("/", "∕") / f"{i:03d} <b>&.png"
        Image.fromarray(grey.astype(np.uint8)).save(file)
    fitted = fit(photos, **QUICK)
    path = tmp_path / "report.html"
    path.write_text(fitted.report, encoding="utf-8")
    with Browser(tmp_path / "browser") as browser:
        browser.open(path)
        browser.run("document.querySelector('.montage').scrollIntoView()")
        sizes = "[...document.querySelectorAll({!r})].map(i => [i.naturalWidth, i.naturalHeight])"
        assert [20, 12] in browser.run(sizes.format("#cards img"))
        assert [20, 12] in browser.run(sizes.format(".montage img"))
        first = browser.run("document.querySelector('.montage button').title")
        browser.click(".montage button")
        current = browser.run("document.querySelector('#cards [aria-current] .name').textContent")
        assert current.startswith(first)
        assert browser.run("document.querySelectorAll('main i, main b b').length") == 0
        assert browser.complaints == []
        browser.run("document.getElementById('review').focus()")
        browser.press("p")
        reviewed = exported_path(browser)
    again = fit(photos, reviewed=reviewed, **QUICK)
    assert again.reviewed.changed == 1


def exported_path(browser):
    browser.press("d")
    return browser.downloaded("reviewed.csv")


def test_the_map_shows_which_row_a_point_is(home, tmp_path):
    _, _, fitted = home
    path = tmp_path / "report.html"
    path.write_text(fitted.report, encoding="utf-8")
    with Browser(tmp_path / "browser") as browser:
        browser.open(path)
        assert browser.run("document.querySelectorAll('svg[data-map]').length") == 2
        rings = browser.run("document.querySelectorAll('svg[data-map] circle.ring').length")
        assert rings == 2 * len(fitted.suspects)
        told = "(b => b.hidden ? '' : b.textContent)(document.getElementById('values'))"
        x, y = browser.run(
            "(c => { c.scrollIntoView({block: 'center'}); const b = c.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })"
            "([...document.querySelectorAll('circle.ring')].at(-1))"  # the one that lies on top
        )
        row = fitted.suspects.iloc[0]
        line = f"row {row['row']}: {row['given_label']}, proposed {row['proposed_label']}"
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        assert browser.run(told) == line
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        assert browser.run(told) == ""
        browser.tap(x + 3, y)  # a finger is not exact
        assert browser.run(told) == line
        browser.tap(2, 2)
        assert browser.run(told) == ""


def test_the_page_is_quick_with_ten_thousand_doubtful_rows(home, tmp_path):
    _, _, fitted = home
    data = review_data(fitted)
    row = data["rows"][data["doubtful"][0]]
    rows = [
        row | {"n": str(i), "t": [["text", "some words of a text " * 8]]} for i in range(10_000)
    ]
    many = data | {"rows": rows, "doubtful": list(range(10_000)), "random": list(range(60))}
    start, block = '<script type="application/json" id="review-data">', fitted.report
    head, _, rest = block.partition(start)
    path = tmp_path / "report.html"
    content = json.dumps(many).replace("<", "\\u003c")
    path.write_text(head + start + content + rest[rest.index("</script>") :], encoding="utf-8")
    with Browser(tmp_path / "browser") as browser:
        browser.open(path)
        assert browser.run("document.querySelectorAll('#cards li').length") == 24
        load = "performance.timing.loadEventEnd - performance.timing.navigationStart"
        assert browser.run(load) < 5000
        browser.run("document.getElementById('review').focus()")
        before = browser.run("performance.now()")
        browser.press(*"kpkpkpkpkp")
        assert (browser.run("performance.now()") - before) / 10 < 500
        assert status(browser).startswith("10 of 10,000 decided")


def test_a_picture_that_cannot_be_shown_is_left_out(tmp_path, monkeypatch):
    (tmp_path / "cat").mkdir()
    Image.new("RGB", (200, 100)).save(tmp_path / "cat" / "good.jpg")
    (tmp_path / "cat" / "broken.jpg").write_bytes(b"\xff\xd8 no picture")
    Image.new("1", (30_000, 30_000)).save(tmp_path / "cat" / "bomb.png")
    names = ["cat/good.jpg", "cat/broken.jpg", "cat/bomb.png", "cat/gone.jpg"]
    good, *others = Pictures(tmp_path, names).thumbnails(range(4))
    assert good.startswith("data:image/jpeg;base64,")
    with Image.open(io.BytesIO(base64.b64decode(good.partition(",")[2]))) as picture:
        assert picture.size == (160, 80)
    assert others == ["", "", ""]

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr("noiseproof.fitting.page.pictures.flat", no_memory)
    assert Pictures(tmp_path, names).thumbnails([0]) == [""]  # it was the end of the fit


def test_a_row_that_is_kept_keeps_its_label(tmp_path):
    """A decision was changed in a spreadsheet, its label was not."""
    path = tmp_path / "reviewed.csv"
    path.write_text("row,given_label,decision,label,list,fingerprint\n0,cat,keep,dog,doubtful,x\n")
    with pytest.raises(DataError, match="line 2: 'cat' is kept, but the label is 'dog'; make"):
        read_decisions(path)


def test_a_review_given_as_trusted_rows_is_refused(tmp_path):
    path = tmp_path / "reviewed.csv"
    path.write_text("row,given_label,decision,label,list,fingerprint\n0,cat,keep,cat,doubtful,x\n")
    with pytest.raises(DataError, match="give it as --reviewed"):
        fit(FRAME, "kind", trusted=path)


@pytest.mark.parametrize("wrap", [list, np.array, lambda pair: {"a": pair[0]}, set, lambda p: (p,)])
def test_lists_in_a_table_tell_it_from_another(wrap):
    def own(values):
        lists = pd.Series([wrap([value, 7]) for value in values], dtype=object)
        return fingerprint(Samples("t", pd.DataFrame({"x": 1, "lists": lists})), 3, None)

    assert own([1, 2, 3]) == own([1, 2, 3]) != own([1, 2, 4])

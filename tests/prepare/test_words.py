"""Texts as features: words of every script, scripts without spaces, emoji."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from noiseproof.prepare.columns.words import Words, count_words, words
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

N = 200


def table(**columns):
    return Samples("t.csv", pd.DataFrame(columns))


def prepare(samples, text=(), notes=None):
    features = learn_features(samples, text, 0, Notes() if notes is None else notes)
    return features, features.transform(samples, Notes())


@pytest.mark.parametrize(
    ("good", "bad", "filler"),
    [
        (("很好看", "精彩", "喜欢"), ("很难看", "无聊", "失望"), "这部电影我觉得"),
        (("すばらしい", "おもしろい"), ("つまらない", "がっかり"), "この映画はとても"),
        (("สนุกมาก", "ชอบ"), ("น่าเบื่อ", "ผิดหวัง"), "หนังเรื่องนี้"),
    ],
    ids=["Chinese", "Japanese", "Thai"],
)
def test_text_without_spaces_is_told_apart(good, bad, filler):
    numbers = np.random.default_rng(0)
    y = np.arange(N) % 2
    made = [
        "".join(numbers.choice(list(filler), 3)) + filler + str(numbers.choice((bad, good)[k]))
        + "".join(numbers.choice(list(filler), 3))
        for k in y
    ]  # fmt: skip
    notes = Notes()
    features, X = prepare(table(review=made), notes=notes)
    assert features.texts == ("review",)
    assert LogisticRegression().fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.95


@pytest.mark.parametrize("length", [9, 20, 40])
@pytest.mark.parametrize("first", ["a", "ㄱ", "가", "ሀ", "अ", "ا", "α", "ᎀ"])
@pytest.mark.parametrize("gap", ["", " "])
def test_words_that_never_repeat_are_read_by_characters_where_the_user_calls_them_text(
    length, first, gap
):
    numbers, y = np.random.default_rng(0), np.arange(N) % 2
    letters = [chr(ord(first) + i) for i in range(24)]
    told = ["".join(letters[1:6:2]), "".join(letters[2:7:2])]
    made = []
    for k in y:
        text, at = "".join(numbers.choice(letters, length)), numbers.integers(length)
        more = "".join(numbers.choice(letters, 9))
        made.append(f"{text[:at]}{told[k]}{text[at:]}{gap}{more}")
    _, X = prepare(table(tag=made, z=y), text=("tag",))
    assert LogisticRegression(C=9).fit(X[:150, :-1], y[:150]).score(X[150:, :-1], y[150:]) > 0.8
    if length < 25 - 9:  # otherwise it is for somebody else to say
        kept, _ = prepare(table(tag=made, z=numbers.normal(size=N)))
        assert kept.texts == ()  # an ID looks the same


def test_words_that_repeat_are_read_as_words():
    made = [f"film {i} was {('bad', 'good')[i % 2]}" for i in range(N)]
    features, _ = prepare(table(review=made), text=("review",))
    assert {"review: film", "review: was good"} <= set(features.names)


KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワ"
HALF = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜ"


def test_kana_of_half_width_are_kana():
    numbers = np.random.default_rng(0)
    full = ["".join(numbers.choice(list(KANA), 20)) for _ in range(N)]
    half = [text.translate(str.maketrans(KANA, HALF)) for text in full]
    (one, X), (other, Z) = (prepare(table(review=texts)) for texts in (full, half))
    assert one.texts == other.texts == ("review",)
    assert (X != Z).nnz == 0


@pytest.mark.parametrize(
    "first",
    [
        "ก",
        "ກ",
        "ཀ",
        "က",
        "ក",
        "ᥐ",
        "ᦀ",
        "ᨠ",
        "ᬓ",
        "ᮊ",
        "ꔀ",
        "あ",
        "ᨀ",
        "ᯀ",
        "ꨀ",
        "𑜀",
        "𒀀",
        "𓀀",
        "ㄅ",
        "一",
        "ꀀ",
        "ꦄ",
        "ꪀ",
        "𗀀",
        "𠀀",
    ],
)
def test_every_script_without_spaces_is_read_by_characters(first):
    letters = [chr(ord(first) + step) for step in range(20)]
    text = "".join(letters)
    assert 10 <= count_words(text) < 13  # some are two, decomposed
    assert {letters[0], letters[0] + letters[1]} <= set(words(text))


def test_short_names_without_spaces_are_categories():
    features, _ = prepare(table(city=["北京", "上海"] * 100, x=np.arange(N) / 7))
    assert features.columns[0].values == ("上海", "北京")


def test_words_of_every_script_are_whole():
    made = Words.learn("t", pd.Series(["हिन्दी में", "Ｆｕｌｌ width", "café", "cafe\u0301"]))
    assert {"हिन्दी", "में", "हिन्दी में", "full", "café"} <= set(made.vocabulary)
    assert "cafe\u0301" not in made.vocabulary  # the same word


@pytest.mark.parametrize("apart", ["", " "])
@pytest.mark.parametrize(
    ("good", "bad", "filler"),
    [
        ("👍😀❤️", "👎😡💔", "🎬🍿🎥"),
        (["👨‍👩‍👧", "🇮🇹", "👍🏽"], ["👨‍👨‍👧", "🇫🇷", "👎🏽"], "🎬🍿🎥"),
        (["★★★★★", "★★★★☆"], ["★☆☆☆☆", "★★☆☆☆"], "→↓"),
    ],
    ids=["emoji", "joined", "stars"],
)
def test_text_of_emoji_alone_is_told_apart(good, bad, filler, apart):
    numbers, y = np.random.default_rng(0), np.arange(N) % 2
    made = [
        apart.join([*numbers.choice(list(filler), 4), str(numbers.choice(list((bad, good)[k]))),
                    *numbers.choice(list(filler), 4)])
        for k in y
    ]  # fmt: skip
    features, X = prepare(table(review=made))
    assert features.texts == ("review",)
    assert LogisticRegression().fit(X[:100], y[:100]).score(X[100:], y[100:]) > 0.95
    coloured = features.transform(table(review=[f"{text}\ufe0f" for text in made]), Notes())
    assert (coloured != X).nnz == 0


def test_emoji_among_words_change_no_word():
    assert words("Fine 👍 film") == [*words("Fine film"), "👍"]
    assert words("❤️") == words("❤") == ["❤"]
    assert words("क्‍ष") == ["क्", "ष", "क् ष"]  # U+200D between letters is no sign


def test_strings_too_long_for_words_are_taken_as_pieces():
    numbers = np.random.default_rng(0)
    letters = [numbers.choice(list(alphabet), 40) for alphabet in ("ACGT", "ACGTTTT")] * 100
    notes = Notes()
    features, X = prepare(table(gene=["".join(row) for row in letters]), ["gene"], notes=notes)
    assert features.columns[0].characters
    assert set("acgt") <= set(features.columns[0].vocabulary)
    assert notes.lines == [f"read as text: gene ({X.shape[1]} pieces of words)"]


ENGLISH = [
    f"the {a} film was {b} and in the end so {c}"
    for a in ("long", "new", "last", "next")
    for b in ("slow", "fine", "funny", "dull")
    for c in ("sad", "good", "bad", "loud")
]
GERMAN = "so ein Film ist in der Nacht nicht sehr gut und man schläft am Anfang schon ein"


@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize(
    ("change", "strange"),
    [
        (lambda text: text.upper(), False),
        (lambda text: f"<b>{text}</b> {text}", False),
        (lambda _: GERMAN, True),
        (lambda text: text.replace(" ", "%20"), True),
        (lambda text: text.encode("utf-16-le").decode("latin-1"), True),
    ],
)
def test_texts_of_another_language_are_a_warning(change, strange, rows):
    frame = pd.DataFrame({"text": ENGLISH})
    learnt, notes = learn_features(Samples("t", frame), ["text"], 0, Notes()), Notes()
    learnt.transform(Samples("t", frame[:rows].map(change)), notes)
    told = [f"text: {rows} of {rows} values have hardly a word known from the fit"]
    assert notes.warnings == (told if strange else [])


REVIEWS = [f"on day {at} of 12 in 2020 the film was good, {at + 3} of 31" for at in range(1, 29)]


@pytest.mark.parametrize(
    "values",
    [
        pd.date_range("2020-12-01", periods=28),
        pd.date_range("2020-12-01", periods=28).strftime("%d/%m/%Y"),
        pd.date_range("2020-12-01", periods=28).strftime("%d %b %Y"),
        range(1, 29), np.arange(1, 29) + 0.5, [f"{at} 12 2020" for at in range(1, 29)],
    ],
)  # fmt: skip
def test_texts_that_became_dates_or_numbers_are_a_warning_though_their_figures_are_known(values):
    learnt = learn_features(table(text=REVIEWS), ["text"], 0, Notes())
    now, before = Notes(), Notes()
    learnt.transform(table(text=values), now)
    learnt.transform(table(text=REVIEWS), before)
    assert (len(now.warnings), before.warnings) == (1, [])
    figures, same = [f"{at} 12 2020" for at in range(1, 29)], Notes()
    learn_features(table(text=figures), ["text"], 0, Notes()).transform(table(text=figures), same)
    assert same.warnings == []


SHORT = {
    "titles": ("warm cosy soft thick", "thin light airy cool", "red hat shoe coat boot scarf", " "),
    "tags": ("warm cosy soft thick", "thin light airy cool", "red hat shoe coat boot scarf", "|"),
    "Chinese": ("暖 厚 冬 棉", "凉 薄 夏 纱", "红 帽 鞋 衣 靴 巾 包 裤 裙 袜", ""),
}


@pytest.mark.parametrize("kind", SHORT)
def test_short_texts_of_shared_words_are_read_as_text(kind):
    *first, others, mark = SHORT[kind]
    numbers, y = np.random.default_rng(0), np.arange(N) % 2
    made = [
        mark.join([*numbers.permutation(others.split())[:3], numbers.choice(first[k].split())])
        for k in y
    ]
    features, X = prepare(table(text=made))
    assert isinstance(features.columns[0], Words)
    assert LogisticRegression().fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    "shape", ["C {:05}", "img-{:04}.png", "u{}@post.com", "https://a.org/{}", "AB-{:04}-X"]
)
def test_names_of_rows_are_no_short_texts(shape):
    notes = Notes()
    prepare(table(name=[shape.format(at) for at in range(N)], z=np.arange(N) % 7), notes=notes)
    assert "left out, a name for each row: name" in notes.lines


GIVEN, FAMILY = "Ann Bob Cem Dan Eva Fay Gus Hal", "Abel Berg Cruz Diaz Engel Fox Gray Hill"


@pytest.mark.parametrize("tells", [False, True])
def test_short_texts_stay_beside_other_columns_only_if_they_help(tells):
    numbers, notes = np.random.default_rng(0), Notes()
    y = numbers.integers(2, size=N)
    first = numbers.integers(4, size=N) + 4 * (y if tells else numbers.integers(2, size=N))
    given = np.array(GIVEN.split())[first]
    more = numbers.choice(GIVEN.split(), N), numbers.choice(FAMILY.split(), N)
    called = [" ".join(parts) for parts in zip(given, *more, strict=True)]
    samples = table(who=called, x=y + numbers.normal(size=N))
    features = learn_features(samples, (), 0, notes, codes=y)
    assert [c.name for c in features.columns] == (["who", "x"] if tells else ["x"])
    assert features.texts == (("who",) if tells else ())
    assert features.left_out == (() if tells else ("who",))
    assert any(line.startswith("left out again") for line in notes.lines) != tells
    alone = learn_features(table(who=called), (), 0, Notes(), codes=y)
    asked = learn_features(samples, ("who",), 0, Notes(), codes=y)
    assert alone.texts == asked.texts == ("who",)


def test_blanks_and_bullets_part_words_and_braille_is_words():
    assert words("ok\u2800bad")[:2] == ["ok", "bad"]  # the blank of Braille
    assert {"ok", "bad", "ok bad"} <= set(words("ok\uf0b7bad"))  # a bullet of Word's
    assert {"\u2801\u2803", "\u2809"} <= set(words("\u2801\u2803\u2800\u2809"))


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("times", [1, 2, 3, 5, 9])
def test_long_texts_are_text_however_often_each_is_there(times, beside):
    numbers = np.random.default_rng(0)
    filler = ["the", "a", "film", "plot", "actor", "was", "really", "and", "so", "it"]
    told = [numbers.permutation([*numbers.choice(filler, 7), w]) for w in ["good", "bad"] * 40]
    texts = np.array([" ".join(one) for one in told] * times, dtype=object)
    columns = {"review": texts} | ({"rater": np.arange(len(texts)) // 80} if beside else {})
    some, new = np.arange(80) < 60, [f"so {word} it was" for word in ["good", "bad"] * 10]
    rows = np.tile(some, times)
    features, _ = prepare(table(**{name: column[rows] for name, column in columns.items()}))
    assert features.texts == ("review",)
    notes = Notes()
    features.transform(table(review=new), notes)
    assert not any("review" in line for line in notes.lines)  # whose words are known


@pytest.mark.parametrize("kinds", [5, 20, 60])
def test_long_names_of_categories_are_categories(kinds):
    names = [f"I agree with the statement number {word}" for word in range(kinds)]
    features, _ = prepare(table(answer=np.random.default_rng(0).permutation(names * 12)))
    assert features.texts == ()

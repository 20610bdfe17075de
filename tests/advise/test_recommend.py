import json
import math

import numpy as np
import pytest

import noiseproof as nf
from noiseproof import cli, noise
from noiseproof.advise.families import HIGHEST, families
from noiseproof.advise.recommend import MARGIN, recommend
from noiseproof.errors import NoiseError, ParameterError, TheoryError

RATES = (0.2, 0.4, 0.6, 0.8)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("margin", [1.0, 1.5, 2.0])
def test_every_loss_keeps_the_margin_and_no_more(rate, margin):
    T = noise.symmetric(10, rate)
    found = recommend(T, margin=margin)
    others = ["ANL-CE", "JAL-CE"]
    assert sorted(a.family for a in found) == sorted([*(f.name for f in families()), *others])
    for advice in found[1:-1]:
        assert advice.ratio == pytest.approx(nf.asymmetry_ratio(advice.loss))
        assert advice.margin == pytest.approx(T.clean_level * advice.ratio)
        assert advice.margin >= margin - 1e-9
        floor = 0.06 * T.clean_level  # losses go no lower than a ratio of about 0.05
        assert advice.margin <= max(margin * 1.02, floor)
        assert advice.tolerates >= rate - 1e-9


def test_the_first_has_all_the_asymmetry_there_is_unless_the_labels_are_clean():
    for text in ("symmetric:0.05", "symmetric:0.8", "pair-flip:0.45"):
        first = recommend(text, classes=10)[0]
        assert (first.family, first.ratio) == ("ANL-CE", 1)
        assert nf.audit(first.loss, noise=noise.parse(text, 10).transition).tolerant
        assert first.margin == pytest.approx(first.clean_level)
    assert nf.asymmetry_ratio(first.loss) == pytest.approx(1)
    assert recommend("none", classes=10)[-1].family == "ANL-CE"
    assert recommend("symmetric:0.8", classes=10, accuracy=0.6)[-1].family == "ANL-CE"
    assert str(recommend("symmetric:0.4", 100)[0].loss) == "10*NCE + NNCE(p_min=1e-07)"


def test_hard_data_are_known_by_the_estimate():
    true = np.arange(1000) % 4
    given = noise.symmetric(4, 0.3).corrupt(true, seed=1)
    numbers = np.random.default_rng(1)
    seen = np.where(numbers.random(1000) < 0.3, true, numbers.integers(4, size=1000))
    p = np.eye(4)[seen] * 0.3 + 0.175
    assert recommend(given.labels, probabilities=p)[-1].family == "ANL-CE"
    assert recommend(given.labels, probabilities=np.eye(4)[true] * 0.8 + 0.05)[0].ratio == 1


def test_what_it_says_is_what_the_audit_says():
    for advice in recommend("asymmetric:0.3", dataset="mnist")[:3]:
        audit = nf.audit(advice.loss, noise=noise.asymmetric("mnist", 0.3))
        assert audit.tolerant
        assert audit.max_symmetric_rate == pytest.approx(advice.tolerates, abs=1e-3)


def test_where_c_is_less_than_the_margin_nearly_all_asymmetry_is_used():
    found = recommend(noise.pair_flip(5, 0.45), margin=2)
    assert all(HIGHEST - 1e-9 <= advice.ratio <= 1 for advice in found[:-1])
    assert any("no room" in warning for warning in found.warnings)


def test_names_the_classes_that_no_loss_can_tell_apart():
    T = noise.TransitionMatrix([[0.4, 0.6], [0.1, 0.9]], classes=["ham", "spam"])
    with pytest.raises(TheoryError, match="'ham' is labelled 'spam'"):
        recommend(T)


@pytest.mark.parametrize("K", [3, 10])
def test_where_every_class_is_lost_nobody_is_told_to_join_them(K):
    for T in (noise.symmetric(K, 0.95), noise.pair_flip(K, 0.6)):
        with pytest.raises(TheoryError, match=r"^in every class .* no loss can help; get cleaner"):
            recommend(T)


def test_several_pairs_are_counted():
    T = np.eye(5)
    T[0, :2], T[2, 2:4] = (0.4, 0.6), (0.4, 0.6)
    with pytest.raises(TheoryError, match=r"the worst of 2 such pairs: .* or join them$"):
        recommend(noise.TransitionMatrix(T))


def test_an_estimate_counts_by_the_lower_end_of_its_interval():
    true = np.arange(1000) % 4
    given = noise.symmetric(4, 0.3).corrupt(true, seed=1)
    p = np.eye(4)[true] * 0.8 + 0.05
    T = noise.estimate(given, p)
    found = recommend(given.labels, probabilities=p)
    assert found[0].clean_level == pytest.approx(T.clean_level_interval[0])
    assert found[0].clean_level < T.clean_level


def test_clean_labels_need_no_asymmetry():
    advice = recommend("none", classes=10)[0]
    assert advice.margin == math.inf
    assert advice.ratio < 0.1


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        (("symmetric:0.4", 10), {"margin": 0.5}, ParameterError),
        (("instance:0.3", 10), {}, NoiseError),
        ((noise.symmetric(4, 0.1), 5), {}, NoiseError),
        ((np.zeros(3, dtype=int),), {}, NoiseError),
        ((noise.symmetric(2, 0.1), ["a", "b", "c"]), {}, NoiseError),
        ((noise.symmetric(2, 0.1, ["a", "b"]), ["b", "a"]), {}, NoiseError),
        ((np.array([0, 1]), np.int64(5)), {"probabilities": np.eye(2)}, NoiseError),
        (("symmetric:0.1", 2), {"probabilities": np.ones((1, 2)) / 2}, ParameterError),
    ],
)
def test_bad_input(arguments, options, error):
    with pytest.raises(error):
        recommend(*arguments, **options)


def test_command_prints_a_table_and_json(capsys):
    words = ["recommend", "--classes", "10", "--noise", "symmetric:0.8"]
    assert cli.main(words) == 0
    assert "Take " in capsys.readouterr().out
    assert cli.main([*words, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["margin"] == MARGIN
    assert all(nf.loss(item["loss"]) is not None for item in read["losses"])


@pytest.mark.parametrize(
    "text", ["symmetric:0.9", "symetric:0.2", "matrix:absent.csv", "human:worst"]
)
def test_command_turns_bad_noise_into_one_line(capsys, text):
    assert cli.main(["recommend", "--classes", "10", "--noise", text]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_many_classes_put_nce_first():
    few, many = (
        [a.family[:3] == "NCE" for a in recommend("symmetric:0.4", count)[1:]]
        for count in (10, 100)
    )
    assert few == [False] * 3 + [True] * 3 + [False]
    assert many == [True] * 3 + [False] * 4


@pytest.mark.parametrize(
    "T",
    [
        noise.symmetric(10, 0.8),
        noise.pair_flip(5, 0.45),
        noise.asymmetric("mnist", 0.3),
        noise.TransitionMatrix([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0, 0, 1]]),
    ],
    ids=["symmetric", "pair flip", "mnist", "uneven"],
)
def test_jal_meets_its_own_condition_with_the_margin_and_no_more(T):
    """The paper's condition on each row: w_m / w_n >= (a + sum_{i != m} w_i / w_n) / (a - 1)."""
    (advice,) = (one for one in recommend(T, margin=1.0) if one.family == "JAL-CE")
    a = advice.loss.losses[1].a

    def asymmetric(a):
        met = []
        for m, row in enumerate(T.matrix):
            others = np.delete(row, m)
            n = others.max()
            met.append(n == 0 or row[m] / n >= (a + others.sum() / n) / (a - 1) - 1e-9)
        return all(met)

    assert advice.margin >= 1 - 1e-9
    assert asymmetric(a)
    assert not asymmetric(0.98 * a)
    assert nf.audit(advice.loss, noise=T).tolerant
    assert recommend(T)[-1].loss.losses[1].a == pytest.approx(2 * a, rel=0.01)


def test_the_symmetric_rate_of_jal_is_the_audits():
    advice = recommend("symmetric:0.6", 10)[-1]
    found = nf.audit(advice.loss, classes=10).max_symmetric_rate
    assert advice.tolerates == pytest.approx(found, abs=2e-3)
    assert "JAL-CE" in json.dumps(recommend("symmetric:0.4", 100).to_dict())
    assert str(recommend("symmetric:0.4", 100)[-1].loss).startswith("5*NCE + AMSE")


@pytest.mark.parametrize(
    "wrong", [-1, float("nan"), "a", [1], True, 10**400], ids=lambda x: str(x)[:4]
)
def test_a_wrong_margin_or_accuracy_is_one_line(wrong):
    for name in ("margin", "accuracy"):
        with pytest.raises(ParameterError, match=name):
            recommend("symmetric:0.4", classes=4, **{name: wrong})
    with pytest.raises(ParameterError, match="`accuracy` <= 1"):
        recommend("symmetric:0.4", classes=4, accuracy=70)


@pytest.mark.parametrize("margin", [-1, 0.5, 1e10, 1e308, math.inf, math.nan])
def test_a_margin_out_of_reach_is_one_line(margin):
    with pytest.raises(ParameterError, match="margin"):
        recommend("symmetric:0.8", classes=10, margin=margin)

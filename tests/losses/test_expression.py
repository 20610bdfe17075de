"""Text and losses are inverse to each other, and wrong text gets one line with the place."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_examples import AT_THE_ENDS, EXAMPLES, NAMED, PAPER, any_losses, problem

import noiseproof as nf
from noiseproof.errors import ExpressionError, ParameterError


@pytest.mark.parametrize("loss", [*EXAMPLES, *AT_THE_ENDS, *PAPER], ids=str)
def test_round_trip(loss):
    again = nf.loss(str(loss))
    assert type(again) is type(loss)
    assert str(again) == str(loss)
    z, y = problem(loss)
    assert torch.equal(again(z, y), loss(z, y))


@given(loss=any_losses())
@settings(max_examples=100)
def test_round_trip_of_any_loss(loss):
    again = nf.loss(str(loss))
    assert str(again) == str(loss)
    z, y = problem(loss, rows=3)
    assert torch.equal(again(z, y), loss(z, y))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("CE", "CE"),
        ("CE()", "CE"),
        ("  CE  ", "CE"),
        ("(CE)", "CE"),
        ("1*CE", "CE"),
        ("FL", "FL(gamma=0.5)"),
        ("GCE", "GCE(q=0.7)"),
        ("RCE", "RCE(A=-4)"),
        ("FL(0.5, True)", "FL(gamma=0.5, detach=True)"),
        ("FL(detach=False)", "FL(gamma=0.5)"),
        ("NCE+4*AGCE(6, q=1.5)", "NCE + 4*AGCE(a=6, q=1.5)"),
        ("NCE + AGCE(q=1.5, a=6)*4.0", "NCE + 4*AGCE(a=6, q=1.5)"),
        ("AGCE(a=1e-5,q=.5)", "AGCE(a=1e-05, q=0.5)"),
        ("RCE(-4)", "RCE(A=-4)"),
        ("RCE(A=--+-4)", "RCE(A=-4)"),
        ("2*(CE + 3*MAE)", "2*CE + 6*MAE"),
        ("CE +\n  2*\tMAE\r\n", "CE + 2*MAE"),
        ("+2*CE", "2*CE"),
        ("Normalized(CE)", "Normalized(CE)"),
        ("Normalized(base=2*CE + MAE)", "Normalized(2*CE + MAE)"),
        ("CE + CE", "CE + CE"),
        ("1_000*CE", "1000*CE"),
    ],
)
def test_what_is_read(text, written):
    assert str(nf.loss(text)) == written


# The text, what the message must contain, and the column of the mistake.
WRONG = [
    ("AGEC(a=6)", "unknown loss 'AGEC'.*did you mean 'AGCE'", 1),
    ("NCE + 4*AGEC(a=6)", "unknown loss 'AGEC'.*did you mean 'AGCE'", 9),
    ("agce(a=6, q=1)", "unknown loss 'agce'.*did you mean 'AGCE'", 1),
    ("Whatever", "unknown loss 'Whatever'.*known: AEL, AGCE", 1),
    ("AGCE", "AGCE needs `a`, `q`", 1),
    ("CE + AGCE(a=6)", "AGCE needs `q`", 6),
    ("Normalized", "Normalized needs `base`", 1),
    ("AGCE(a=6, p=1)", "AGCE has no parameter 'p'", 11),
    ("FL(gama=1)", "FL has no parameter 'gama'.*did you mean 'gamma'", 4),
    ("CE(q=1)", "CE has no parameter 'q'", 4),
    ("CE(reduction='sum')", "CE has no parameter 'reduction'", 4),
    ("AGCE(1, 2, 3)", "AGCE takes `a`, `q`", 12),
    ("CE(1)", "CE takes no parameters", 4),
    ("AGCE(1, a=2)", "given 'a' twice", 9),
    ("AGCE(**{})", ".", 6),
    ("AGCE(*[1, 2])", "expected a number|needs", None),
    ("AUL(a=0.5, p=1)", "expected `a` > 1, got 0.5", 7),
    ("NCE + 2*AUL(a=0.5, p=1)", "expected `a` > 1, got 0.5", 15),
    ("-1*CE", "expected `weight of CE` > 0, got -1", 1),
    ("NCE + -2*CE", "expected `weight of CE` > 0, got -2", 7),
    ("0*CE", "expected `weight of CE` > 0, got 0", 1),
    ("1e999*CE", "expected `weight of CE` > 0, got inf", 1),
    ("CE*0", "expected `weight of CE` > 0, got 0", 4),
    ("1" + "0" * 400 + "*CE", ".", 1),
    ("AGCE(a=1" + "0" * 400 + ", q=1)", ".", None),
    ("AGCE(a=100, q=1e4)", "float32", 1),
    ("CE - MAE", "expected a loss", None),
    ("CE / 2", "expected a loss", None),
    ("-CE", "expected a loss", 1),
    ("CE ** 2", "expected a loss", None),
    ("CE * MAE", "expected a number", None),
    ("2 * 3", "expected a loss", 5),
    ("4", "expected a loss", 1),
    ("CE + 1", "expected a loss", 6),
    ("'CE'", "expected a loss", 1),
    ("True*CE", "expected a number", 1),
    ("1j*CE", "expected a number", 1),
    ("AGCE(a='6', q=1)", "expected a number", 8),
    ("AGCE(a=None, q=1)", "expected a number", 8),
    ("AGCE(a=True, q=1)", "number", None),
    ("AGCE(a=CE, q=1)", "expected a number", 8),
    ("FL(detach=1)", ".", None),
    ("FL(detach='yes')", ".", None),
    ("Normalized(4)", "expected a loss", 12),
    ("Normalized(CE", ".", None),
    ("CE +", ".", None),
    ("CE MAE", ".", None),
    ("CE, MAE", "expected a loss", None),
    ("[CE]", "expected a loss", 1),
    ("nf.CE", "expected a loss", 1),
    ("CE()()", "expected a loss", 1),
    ("CE if 1 else MAE", "expected a loss", 1),
    ("lambda: CE", "expected a loss", 1),
    ("__import__('os').system('true')", "expected a loss", 1),
    ("(lambda: 1)()", "expected a loss", 1),
    ("CE; MAE", ".", 3),
    ("CE # + MAE", ".", None),
    ("1e-200*(1e-200*CE)", "weight", None),
    ("1e200*(1e200*NCE)", "weight", None),
    ("x = CE", ".", None),
    ("import os", ".", None),
    ("CE\x00", ".", None),
    ("4 CE", ".", None),
    ("NCE + 4×AGCE(6, 1)", ".", 8),
    ("   AGEC(a=6)", "AGEC", 4),
    ("\n\nAGEC", "AGEC", 3),
    ("(" * 300 + "CE" + ")" * 300, ".", None),
]


@pytest.mark.parametrize(("text", "says", "column"), WRONG, ids=[repr(w[0])[:40] for w in WRONG])
def test_wrong_text_is_one_line_with_the_place(text, says, column):
    with pytest.raises(ExpressionError, match=says) as caught:
        nf.loss(text)
    message = str(caught.value)
    assert "\n" not in message
    place = re.search(r"at column (\d+) of ", message)
    assert place, message
    if column is not None:
        assert int(place[1]) == column, message
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_empty_text_shows_an_example(text):
    with pytest.raises(ExpressionError, match="empty loss; write for example"):
        nf.loss(text)


@pytest.mark.parametrize("text", [None, 3, b"CE", ["CE"]])
def test_what_is_not_text(text):
    with pytest.raises(ExpressionError, match="expected a loss as text"):
        nf.loss(text)


@pytest.mark.parametrize("text", ["CE" + " + CE" * 10_000, "-" * 1501 + "1*CE", "CE(" * 600])
def test_text_that_is_too_long_or_too_deep(text):
    with pytest.raises(ExpressionError) as caught:
        nf.loss(text)
    assert "\n" not in str(caught.value)


def test_a_long_sum_is_read_and_written():
    text = " + ".join(["CE", "2*MAE"] * 100)
    assert str(nf.loss(text)) == text


@given(text=st.text(alphabet="CEMAGFLq+*()=.,1- \n'[]", max_size=20))
@settings(max_examples=300)
def test_any_text_is_a_loss_or_an_expression_error(text):
    try:
        built = nf.loss(text)
    except ExpressionError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert str(nf.loss(str(built))) == str(built)


@given(text=st.text(max_size=20))
@settings(max_examples=50)
def test_any_unicode_is_a_loss_or_an_expression_error(text):
    with pytest.raises(ExpressionError):
        nf.loss(text + "§")


@pytest.mark.parametrize("name", NAMED)
def test_every_near_miss_is_told_the_name(name):
    with pytest.raises(ExpressionError, match=f"did you mean '{name}'"):
        nf.loss(name.lower())


def test_options_reach_every_part():
    w = torch.tensor([1.0, 2.0, 3.0])
    z, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 1])
    options = {"weight": w, "reduction": "none", "ignore_index": 2, "label_smoothing": 0.1}
    built = nf.loss("2*CE + Normalized(MAE)", **options)
    assert built.reduction == "none"
    assert built.ignore_index == 2
    assert built.label_smoothing == 0.1
    assert torch.equal(built.weight, w)
    expected = 2 * nf.CE(**options)(z, y) + nf.Normalized(nf.MAE(), **options)(z, y)
    torch.testing.assert_close(built(z, y), expected)


@pytest.mark.parametrize(
    ("loss", "shown"),
    [
        (nf.CE(), "<CE>"),
        (nf.AGCE(a=1, q=0.5, reduction="none"), "<AGCE(a=1, q=0.5), reduction='none'>"),
        (nf.CE(ignore_index=0, label_smoothing=0.1), "<CE, ignore_index=0, label_smoothing=0.1>"),
    ],
)
def test_repr_shows_the_options(loss, shown):
    assert repr(loss) == shown


def test_an_unknown_option_is_named():
    with pytest.raises(ParameterError, match="no option 'redution'; did you mean 'reduction'"):
        nf.loss("CE", redution="sum")

"""Losses as text: ``"NCE + 4*AGCE(a=6, q=1.5)"`` to a loss; ``str(loss)`` is the way back."""

import ast
from collections.abc import Callable
from dataclasses import MISSING
from typing import Any, NoReturn, TypeVar

from noiseproof.errors import ExpressionError, NoiseproofError, ParameterError, did_you_mean
from noiseproof.losses.base import Loss, registry
from noiseproof.losses.combine import weighted_sum
from noiseproof.losses.declared import OPTIONS
from noiseproof.losses.parameter import checked

LONGEST = 20_000

Built = TypeVar("Built")


def loss(text: str, **options: Any) -> Loss:
    """Read a loss from text: names with parameters, ``+``, and positive numbers with ``*``.

    The text is parsed, never evaluated. ``str(loss)`` writes what this reads.

    Args:
        text: such as ``"AUL(a=3, p=0.1)"`` or ``"NCE + 4*AGCE(a=6, q=1.5)"``.
        **options: ``reduction``, ``weight``, ``ignore_index``, ``label_smoothing``.

    Example:
        >>> str(loss("NCE+4*AGCE(6, q=1.5)"))
        'NCE + 4*AGCE(a=6, q=1.5)'
        >>> loss("AGEC(a=6)")
        Traceback (most recent call last):
        ...
        noiseproof.errors.ExpressionError: unknown loss 'AGEC' at column 1 ... did you mean 'AGCE'?
    """
    return _Reader(text, options).read()


def as_loss(given: Loss | str) -> Loss:
    """Return a loss as it is, or read it from text."""
    if isinstance(given, str):
        return loss(given)
    if not isinstance(given, Loss):
        raise ParameterError(f"expected a loss or its text, got {given!r}")
    return given


class _Reader:
    def __init__(self, text: str, options: dict[str, Any]) -> None:
        self.text, self.options = text, options

    def read(self) -> Loss:
        if not isinstance(self.text, str):
            raise ExpressionError(f"expected a loss as text, got {self.text!r}")
        for name in self.options:
            if name not in OPTIONS:
                raise ParameterError(f"a loss has no option {name!r}{did_you_mean(name, OPTIONS)}")
        if len(self.text) > LONGEST:
            raise ExpressionError(f"a loss of {len(self.text)} characters (at most {LONGEST})")
        # Line breaks are layout to a reader and statements to the parser; columns stay the same.
        flat = self.text.replace("\n", " ").replace("\t", " ").replace("\r", " ")
        stripped = flat.lstrip()
        self.indent = len(flat) - len(stripped)
        if not stripped:
            raise ExpressionError("empty loss; write for example 'NCE + 4*AGCE(a=6, q=1.5)'")
        if "#" in stripped:  # a comment to the parser: what follows it would be lost in silence
            self._fail("cannot read '#'", stripped.index("#"))
        try:
            tree = ast.parse(stripped, mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            column = getattr(error, "offset", None) or len(stripped) + 1
            self._fail(f"cannot read this ({getattr(error, 'msg', error)})", column - 1)
        try:
            return self._loss(tree.body)
        except RecursionError:
            raise ExpressionError("a loss nested too deeply to read") from None

    def _loss(self, node: ast.expr) -> Loss:
        match node:
            case ast.BinOp(left, ast.Add(), right):
                return self._guarded(
                    node, weighted_sum, [(1.0, self._loss(left)), (1.0, self._loss(right))]
                )
            case ast.BinOp(left, ast.Mult(), right):
                factor, term = (left, right) if _is_number(left) else (right, left)
                return self._guarded(
                    factor, weighted_sum, [(self._number(factor), self._loss(term))]
                )
            case ast.Name(name):
                return self._named(name, node, [], [])
            case ast.Call(ast.Name(name), args, keywords):
                return self._named(name, node, args, keywords)
        self._fail("expected a loss such as AGCE(a=6, q=1.5)", node)

    def _named(
        self, name: str, node: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]
    ) -> Loss:
        if name not in registry:
            self._fail(f"unknown loss {name[:80]!r}", node, did_you_mean(name, registry))
        kind = registry[name]
        declared = {f.name: f for f in kind.parameters_declared()}
        if len(args) > len(declared):
            self._fail(f"{name} takes {_list(declared)}", args[len(declared)])
        given = dict(zip(declared, args, strict=False))
        for keyword in keywords:
            if keyword.arg not in declared:
                hint = did_you_mean(keyword.arg, declared) if keyword.arg and declared else ""
                self._fail(f"{name} has no parameter {str(keyword.arg)[:80]!r}", keyword, hint)
            if keyword.arg in given:
                self._fail(f"{name} is given {keyword.arg!r} twice", keyword)
            given[keyword.arg] = keyword.value
        missing = [n for n, f in declared.items() if n not in given and f.default is MISSING]
        if missing:
            self._fail(f"{name} needs {_list(missing)}", node)
        types = kind.parameter_types()
        values = {n: self._value(types[n], v) for n, v in given.items()}
        for number, domain in kind.domains().items():
            if number in given:
                self._guarded(given[number], checked, number, values[number], domain)
        return self._guarded(node, kind, **values, **self.options)

    def _value(self, kind: Any, node: ast.expr) -> Any:
        if isinstance(kind, type) and issubclass(kind, Loss):
            outer, self.options = self.options, {}  # options are for the loss as a whole
            inner = self._loss(node)
            self.options = outer
            return inner
        if kind is bool:
            if isinstance(node, ast.Constant) and isinstance(node.value, bool):
                return node.value
            self._fail("expected True or False", node)
        return self._number(node)

    def _number(self, node: ast.expr) -> float:
        sign = 1.0
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            sign, node = (-sign if isinstance(node.op, ast.USub) else sign), node.operand
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            try:
                return sign * float(node.value)  # type: ignore[arg-type]
            except OverflowError:
                self._fail("a number too large", node)
        self._fail("expected a number", node)

    def _guarded(
        self, node: ast.AST, build: Callable[..., Built], *args: Any, **kwargs: Any
    ) -> Built:
        try:
            built = build(*args, **kwargs)
        except ExpressionError:
            raise
        except (NoiseproofError, OverflowError) as error:
            self._fail(str(error), node)
        return built

    def _fail(self, what: str, where: ast.AST | int, hint: str = "") -> NoReturn:
        if isinstance(where, int):
            column = where
        else:  # the parser counts bytes
            start = self.text.lstrip().encode()[: getattr(where, "col_offset", 0)]
            column = len(start.decode(errors="ignore"))
        column = min(column, len(self.text)) + self.indent + 1
        text = self.text if len(self.text) <= 120 else self.text[:117] + "..."
        raise ExpressionError(f"{what} at column {column} of {text!r}{hint}") from None


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.UnaryOp))


def _list(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names) or "no parameters"

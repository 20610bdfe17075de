"""A loss as text and as a term: its declared parameters, ``str``, ``+``, ``*`` and ``/``."""

import dataclasses
import functools
import typing
from typing import TYPE_CHECKING, Any, ClassVar, cast

from noiseproof.errors import NoiseproofError, ParameterError
from noiseproof.losses.parameter import Interval, checked, write_number
from noiseproof.losses.targets import check_class_weights

if TYPE_CHECKING:
    from noiseproof.losses.base import Loss

#: The options of ``nn.CrossEntropyLoss`` and their defaults; they are not part of the text.
OPTIONS: dict[str, Any] = {
    "weight": None,
    "ignore_index": -100,
    "reduction": "mean",
    "label_smoothing": 0.0,
}


class Written:
    """The half of :class:`Loss` that knows how a loss is written and added up."""

    #: How often any loss has been changed after it was built: a sum keeps what it asked its terms.
    changes: ClassVar[int] = 0

    text_name: ClassVar[str]
    ignore_index: int
    reduction: str
    label_smoothing: float
    is_cross_entropy: ClassVar[bool]

    @classmethod
    def parameters_declared(cls) -> list[dataclasses.Field[Any]]:
        """The fields that make up the mathematics, in order; the options are not among them."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        return [f for f in fields if f.init and f.name not in OPTIONS]

    @classmethod
    @functools.cache
    def parameter_types(cls) -> dict[str, Any]:
        """The type of each declared parameter, also where annotations are kept as text."""
        declared = {f.name: f.type for f in cls.parameters_declared()}
        try:
            hints = typing.get_type_hints(cls) if declared else {}
        except NameError:  # text that names something inside a function: only the words are left
            words = {"float": float, "int": int, "bool": bool}
            hints = {name: words.get(str(kind), kind) for name, kind in declared.items()}
        return {name: hints[name] for name in declared}

    @classmethod
    @functools.cache
    def domains(cls) -> dict[str, Interval]:
        """The numeric parameters and the interval each must be in."""
        types = cls.parameter_types()
        declared = {f.name: f.metadata.get("domain") for f in cls.parameters_declared()}
        return {
            name: domain
            for name, domain in declared.items()
            if domain and types[name] in (int, float)
        }

    def check_parameters(self) -> None:
        """Say which parameter is outside its domain; keep each in the type it is declared with."""
        domains = self.domains()
        for name, kind in self.parameter_types().items():
            given = getattr(self, name)
            if kind is bool and not isinstance(given, bool):
                raise ParameterError(f"expected `{name}` to be True or False, got {given!r}")
            if name in domains:
                number = checked(name, given, domains[name])
                if kind is int and not number.is_integer():
                    raise ParameterError(f"expected `{name}` to be a whole number, got {given!r}")
                self.__dict__[name] = kind(number)

    def check_options(self) -> None:
        """Say which option is not one of ``nn.CrossEntropyLoss``."""
        smoothing = checked(
            "label_smoothing", self.label_smoothing, Interval(at_least=0, at_most=1)
        )
        self.__dict__["label_smoothing"] = smoothing
        if self.reduction not in ("none", "mean", "sum"):
            raise ParameterError(f"expected reduction none, mean or sum, got {self.reduction!r}")
        if isinstance(self.ignore_index, bool) or not isinstance(self.ignore_index, int):
            raise ParameterError(f"expected `ignore_index` to be an int, got {self.ignore_index!r}")

    def check_formula(self, who: str) -> None:
        """Raise ParameterError where ``who`` asks the formula alone, and forward does more."""
        from noiseproof.losses.base import Loss  # it is written by this

        for part in cast("Loss", self).modules():
            if isinstance(part, Loss) and type(part).forward is not Loss.forward:
                raise ParameterError(
                    f"{type(part).__name__} says its own forward, which {who} does not call: "
                    "say it as value, per_class or transform"
                )

    def prepare(self) -> None:
        """Set what follows from the parameters: when a loss is built, and when one is changed."""

    def __setattr__(self, name: str, value: Any) -> None:
        kept = None if name.startswith("_") else self._kept(name)
        if kept is None:  # being built
            super().__setattr__(name, value)
            return
        Written.changes += 1
        if name == "weight":
            self.check_weight(value)
        before = kept[name]
        super().__setattr__(name, value)
        try:
            if name in OPTIONS:
                self.check_options()
            elif name in self.parameter_types():
                self.check_parameters()
                self.prepare()
        except NoiseproofError:
            kept[name] = before
            raise

    def _kept(self, name: str) -> dict[str, Any] | None:
        """Return where an attribute is, for a torch module has several places; None: nowhere."""
        own = self.__dict__
        places = (own, own.get("_modules", {}), own.get("_buffers", {}))
        return next((place for place in places if name in place), None)

    def check_weight(self, weight: Any) -> None:
        """Say what is wrong with the weights of the classes."""
        if weight is not None:
            check_class_weights(weight, negative=self.is_cross_entropy)

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``nn.CrossEntropyLoss`` this loss was built with."""
        return {name: getattr(self, name) for name in OPTIONS}

    @property
    def options_changed(self) -> dict[str, Any]:
        """Those of the options that are not the default."""
        given = self.options.items()
        return {n: v for n, v in given if (v is not None if n == "weight" else v != OPTIONS[n])}

    def __str__(self) -> str:
        written = []
        for f in self.parameters_declared():
            value = getattr(self, f.name)
            if isinstance(value, bool):
                written += [f"{f.name}={value}"] if value != f.default else []
            elif isinstance(value, Written):
                written.append(str(value))
            else:
                text = write_number(value) if isinstance(value, float) else str(value)
                written.append(f"{f.name}={text}")
        return self.text_name + (f"({', '.join(written)})" if written else "")

    def __repr__(self) -> str:
        changed = [f"{name}={value!r}" for name, value in self.options_changed.items()]
        return f"<{', '.join([str(self), *changed])}>"

    def __add__(self, other: "Loss") -> "Loss":
        from noiseproof.losses.combine import weighted_sum  # it is made of losses

        if not isinstance(other, Written):
            return NotImplemented
        return weighted_sum([(1.0, cast("Loss", self)), (1.0, other)])

    def __radd__(self, other: int) -> "Loss":
        return cast("Loss", self) if other == 0 else NotImplemented  # where sum([...]) starts

    def __mul__(self, factor: float) -> "Loss":
        from noiseproof.losses.combine import weighted_sum

        if not isinstance(factor, (int, float)) or isinstance(factor, bool):
            return NotImplemented
        return weighted_sum([(factor, cast("Loss", self))])

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> "Loss":
        if not isinstance(divisor, (int, float)) or isinstance(divisor, bool) or divisor == 0:
            return NotImplemented
        return self * (1 / divisor)

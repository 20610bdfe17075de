"""The parameters and options of a loss: declared on its class, checked whenever one is set."""

import dataclasses
import functools
import typing
from typing import Any, ClassVar, Self

from torch import nn

from noiseproof.errors import NoiseproofError, ParameterError
from noiseproof.losses.parameter import Interval, check_flag, checked
from noiseproof.losses.targets import check_class_weights

#: The options of ``nn.CrossEntropyLoss`` and their defaults; they are not part of the text.
OPTIONS: dict[str, Any] = {
    "weight": None,
    "ignore_index": -100,
    "reduction": "mean",
    "label_smoothing": 0.0,
}


class Declared:
    """The part of :class:`Loss` that knows which parameters and options it has."""

    is_cross_entropy: ClassVar[bool]
    _buffers: dict[str, Any]
    #: Replaced whenever any loss is changed, so that a sum knows when what it keeps of its terms is
    #: out of date. A count could be equal by chance in a process that unpickles a changed sum.
    changes: ClassVar[object] = object()
    #: Whether the loss is built, and not at its :meth:`prepare`.
    _settled: ClassVar[bool] = False
    #: The loss that made this one from its own parameters, as NFL makes its base.
    _follows: ClassVar[str] = ""

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
    def followers(cls) -> frozenset[str]:
        """The fields that follow from the parameters, as the base of NFL does."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        return frozenset(f.name for f in fields if not f.init)

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

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``nn.CrossEntropyLoss`` this loss was built with."""
        return {name: getattr(self, name) for name in OPTIONS}

    @property
    def options_changed(self) -> dict[str, Any]:
        """Those of the options that are not the default."""
        given = self.options.items()
        return {n: v for n, v in given if (v is not None if n == "weight" else v != OPTIONS[n])}

    def prepare(self) -> None:
        """Set what follows from the parameters: when a loss is built, and when one is changed."""

    def checked(self, name: str, given: Any) -> Any:
        """Return what was given for a parameter or option, in its type, or say what is wrong."""
        kind, domain = self.parameter_types().get(name), self.domains().get(name)
        if kind is bool:
            return check_flag(name, given)
        if domain is not None:
            number = checked(name, given, domain)
            if kind is int and not number.is_integer():
                raise ParameterError(f"expected `{name}` to be a whole number, got {given!r}")
            return int(number) if kind is int else number
        if name == "weight" and given is not None:
            check_class_weights(given, negative=self.is_cross_entropy)
        if name == "label_smoothing":
            return checked(name, given, Interval(at_least=0, at_most=1))
        if name == "reduction" and str(given) not in ("none", "mean", "sum"):
            raise ParameterError(f"expected reduction none, mean or sum, got {given!r}")
        if name == "ignore_index" and (isinstance(given, bool) or not isinstance(given, int)):
            raise ParameterError(f"expected `ignore_index` to be an int, got {given!r}")
        if name == "ignore_index" and not -(2**63) <= given < 2**63:
            raise ParameterError(f"expected `ignore_index` to be an int of 64 bits, got {given}")
        return given

    def settle(self) -> None:
        """Set what follows from the parameters; it can only be changed by them."""
        self.__dict__["_settled"] = False
        self.prepare()
        for name in self.followers():
            part = getattr(self, name, None)
            if isinstance(part, Declared):
                part.__dict__["_follows"] = type(self).__name__
        self.__dict__["_settled"] = True

    def __copy__(self) -> Self:
        # A module's own copy would share these, and a change of one loss be half a change of both.
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        for kept in ("_parameters", "_buffers", "_modules"):
            new.__dict__[kept] = self.__dict__[kept].copy()
        return new

    def __setattr__(self, name: str, value: Any) -> None:
        is_parameter = name in self.parameter_types()
        if not self._settled or not (is_parameter or name in OPTIONS):
            made = self._settled and name in self.followers()
            if made and isinstance(getattr(self, name, None), Declared):
                raise ParameterError(
                    f"`{name}` of {type(self).__name__} follows from its parameters: change those, "
                    "or build another loss"
                )
            declared = is_parameter or name in OPTIONS
            if declared and isinstance(value, nn.Module | nn.Parameter):
                value = self.checked(name, value)  # torch would file it away beside the default
            super().__setattr__(name, value)
            return
        if is_parameter and self._follows:
            raise ParameterError(f"`{name}` follows from {self._follows}: change it there")
        before, value = getattr(self, name), self.checked(name, value)
        if isinstance(before, Declared) and not isinstance(value, Declared):
            raise ParameterError(f"expected `{name}` to be a loss, such as nf.CE(), got {value!r}")
        Declared.changes = object()
        if name == "weight" and name in self._buffers:  # a parameter too is kept as a buffer
            self._buffers[name] = value
            return
        super().__setattr__(name, value)
        if is_parameter:
            try:
                self.settle()
            except NoiseproofError:
                super().__setattr__(name, before)
                self.settle()
                raise

"""A loss as text and as a term: ``str``, ``+``, ``*`` and ``/``."""

from typing import TYPE_CHECKING, ClassVar, cast

from noiseproof.losses.declared import Declared
from noiseproof.losses.parameter import write_number

if TYPE_CHECKING:
    from noiseproof.losses.base import Loss


class Written(Declared):
    """The part of :class:`Loss` that knows how a loss is written and added up."""

    text_name: ClassVar[str]

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

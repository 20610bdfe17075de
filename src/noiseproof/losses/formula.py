"""Whether the formula that a class says is the one that is computed."""

from torch import nn

from noiseproof.errors import ParameterError


def check_asked(cls: type, base: type, formula: str, users: tuple[str, ...]) -> None:
    """Raise ParameterError where ``cls`` says a ``formula`` that it would not be asked for.

    ``users`` of ``base`` are made from the formula. A class in between may say them in another way,
    faster, for its own formula alone: gradients, or the values of small batches, would stay those.
    """
    if formula not in cls.__dict__:
        return
    for user in users:
        if user not in cls.__dict__ and getattr(cls, user) is not getattr(base, user):
            parent = next(p.__name__ for p in cls.__mro__[1:] if user in p.__dict__)
            raise ParameterError(
                f"{cls.__name__} says {formula} and inherits the {user} of {parent}, which is made "
                f"for another formula: derive {cls.__name__} from nf.{base.__name__}"
            )


def check_forward(loss: nn.Module, base: type[nn.Module], who: str) -> None:
    """Raise ParameterError where ``who`` asks the formula alone, and a ``forward`` does more."""
    for part in loss.modules():
        if isinstance(part, base) and type(part).forward is not base.forward:
            raise ParameterError(
                f"{type(part).__name__} says its own forward, which {who} does not call: "
                "say it as value, per_class or transform"
            )


def says_transform(cls: type) -> bool:
    """Whether the first to say so, a mixin perhaps, says ``transform`` and not ``transforms``."""
    names = (
        name for p in cls.__mro__ for name in ("transforms", "transform") if name in p.__dict__
    )
    return next(names) == "transform"

"""Whether the formula that a class says is the one that is computed."""

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


def says_transform(cls: type) -> bool:
    """Whether the first to say so, a mixin perhaps, says ``transform`` and not ``transforms``."""
    names = (
        name for p in cls.__mro__ for name in ("transforms", "transform") if name in p.__dict__
    )
    return next(names) == "transform"

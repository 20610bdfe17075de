"""Connecting to Ray: to a cluster, or to one that is started here."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import ray

from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.local import cores
from noiseproof.errors import ParameterError

#: Seconds a cluster has to answer.
TIMEOUT = 5.0


@contextmanager
def connected(settings: Settings) -> Iterator[None]:
    """Connect to the cluster, or start one on this machine for as long as this lasts."""
    if ray.is_initialized():
        with _quiet():
            yield
        return
    try:
        with _quiet():
            _connect(settings)
            yield
    finally:
        ray.shutdown()


def _connect(settings: Settings) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Without it Ray announces what a later version of it will do.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if not settings.address:
        ray.init("local", num_cpus=settings.workers or cores(), include_dashboard=False, **options)
        return
    check_cluster(settings.address)
    try:
        ray.init(settings.address, **options)
    except (ConnectionError, RuntimeError):
        if settings.address == "auto":
            error = ConnectionError("none runs here; `ray start --head` starts one")
        raise ParameterError(f"no connection to Ray at {settings.address}: {error}") from None


def check_cluster(address: str) -> None:
    """Raise ParameterError for an address where no cluster answers.

    Ray itself would try for many minutes. It looks for ``auto`` among the processes of this
    machine, which takes no time.

    >>> check_cluster("localhost")
    Traceback (most recent call last):
    noiseproof.errors.ParameterError: expected the address of a Ray cluster, auto or HOST:PORT, ...
    """
    if address == "auto":
        return
    scheme, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if scheme not in ("", "ray") or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ParameterError(
            f"expected the address of a Ray cluster, auto or HOST:PORT, got {address!r}"
        )
    if not _answers(place):
        raise ParameterError(f"no Ray cluster answers at {address}")


def _answers(place: str) -> bool:
    """Return whether something there speaks gRPC, as Ray does."""
    with grpc.insecure_channel(place) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=TIMEOUT)
        except grpc.FutureTimeoutError:
            return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide warnings that are meant for Ray's own developers."""
    with warnings.catch_warnings():
        for kind in (DeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        yield

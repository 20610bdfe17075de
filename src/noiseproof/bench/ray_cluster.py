"""A connection to Ray: a cluster, or one that is started here; one line where there is none."""

import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray._private import services

from noiseproof.bench.engine import Settings
from noiseproof.bench.local import cores
from noiseproof.errors import ParameterError

#: Seconds a cluster has to answer.
TIMEOUT = 5.0
#: How a client of HTTP/2, which gRPC is, says hello; and the kind of frame a server answers with.
HELLO, SETTINGS = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4" + bytes(5), 4


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
    try:
        ray.init(find_cluster(settings.address), **options)
    except (ConnectionError, RuntimeError) as error:
        raise ParameterError(f"no connection to Ray at {settings.address}: {error}") from None


def find_cluster(address: str) -> str:
    """Return the address of a cluster that answers.

    Ray itself tries for many minutes, and says so every five seconds.

    >>> find_cluster("localhost")
    Traceback (most recent call last):
    noiseproof.errors.ParameterError: expected the address of a Ray cluster, auto or HOST:PORT, ...
    """
    scheme, _, place = address.rpartition("://")
    if address == "auto":
        try:
            place = address = str(services.canonicalize_bootstrap_address(address))
        except ConnectionError:
            raise ParameterError("no Ray cluster here: start one with `ray start --head`") from None
    host, _, port = place.rpartition(":")
    if scheme not in ("", "ray") or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ParameterError(
            f"expected the address of a Ray cluster, auto or HOST:PORT, got {address!r}"
        )
    if not _answers(host.strip("[]"), int(port)):
        raise ParameterError(f"no Ray cluster answers at {address}")
    return address


def _answers(host: str, port: int) -> bool:
    """Say whether something there speaks the protocol of Ray."""
    try:
        with socket.create_connection((host, port), TIMEOUT) as wire:
            wire.sendall(HELLO)
            frame = wire.recv(9)
    except OSError:
        return False
    return len(frame) == 9 and frame[3] == SETTINGS


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Ray warns its own developers of from the user."""
    with warnings.catch_warnings():
        for kind in (DeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        yield

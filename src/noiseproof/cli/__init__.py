"""The command line: parse, call, print. What it prints is made elsewhere."""

import sys

try:
    import _thread
    import io
    import logging
    import os
    import re
    import signal
    import tempfile
    import threading
    import time
    import traceback
    from collections.abc import Iterator
    from contextlib import contextmanager, suppress
    from types import FrameType
    from typing import NoReturn

    from noiseproof.errors import NoiseproofError
    from noiseproof.extras import need
    from noiseproof.shown import printable
except KeyboardInterrupt:  # before there is anybody to hear it
    print("noiseproof: interrupted", file=sys.stderr)
    raise SystemExit(130) from None

#: 128 and the number of the signal, as shells have it.
INTERRUPTED, TERMINATED = 130, 143
#: So many seconds a signal waits at most for a module to be imported.
PATIENCE = 5.0
#: Letters of a complaint.
LONGEST = 2000


def command() -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    _open_streams()
    os.environ["MPLBACKEND"] = "agg"  # pictures go into files; no window, whatever the user's are
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of caches it cannot write
    code = main()
    if code in (INTERRUPTED, TERMINATED):  # another signal, on the way out, says no more
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: os._exit(code))
    if os.environ.get("WORLD_SIZE", "1") != "1":
        # gloo's threads outlive their process group, and one that wants Python's lock while the
        # interpreter shuts down aborts the process. So a process of torchrun leaves at once.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _open_streams() -> None:
    """Open streams that the caller closed, to nowhere.

    Else the next file that is opened would take the place of one, and get what C code writes there;
    and Python prints complaints among the results where there is no standard error.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 on success, 2 for a user's mistake with one line of why."""
    signals: list[int] = []
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal shows what it can of any name
            stream.reconfigure(errors="backslashreplace")
    try:  # from here on: importing torch takes seconds in which a user may press Ctrl-C
        with _terminable(signals):
            os.getcwd()  # torch ends the process where this does not exist
            need("fit", "typer")
            from noiseproof.cli.commands import run

            code = run(arguments)
            if signals:  # which waited until the end
                code = INTERRUPTED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        if not signals:
            return _explained(error)
        code = INTERRUPTED  # modules in C raise errors of their own if their import is interrupted
    if code == INTERRUPTED:  # typer too makes this of Ctrl-C
        terminated = signal.SIGTERM in signals
        print(f"noiseproof: {'terminated' if terminated else 'interrupted'}", file=sys.stderr)
        return TERMINATED if terminated else INTERRUPTED
    return code


def _explained(error: Exception) -> int:
    """Say in one line what went wrong, where that is no mistake of this program."""
    text = str(error)
    if isinstance(error, NoiseproofError):
        return _complain(text)
    if isinstance(error, FileNotFoundError):
        if error.filename:
            return _complain(f"{error.filename}: {error.strerror}")
        if "temporary directory" in text:  # of `tempfile`: nowhere can anything be written
            return _complain(
                "no folder for temporary files can be written to: they are full or read-only; "
                "TMPDIR names another"
            )
        return _complain("the working directory does not exist any more")
    if isinstance(error, OSError):
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else text)
    if isinstance(error, MemoryError):
        return _complain(f"not enough memory ({text or 'nothing is left'})")
    if isinstance(error, ImportError) and re.search("failed to map segment|allocate memory", text):
        return _complain("not enough memory to load what it needs")  # by the loader of the system
    if isinstance(error, RuntimeError):  # torch has no other type for it, pathlib none for links
        if "Symlink loop" in text:
            return _complain(f"links that lead in a circle: {error}")
        if re.search("can't allocate memory|out of memory", text):
            return _complain("not enough memory")
        if "can't start new thread" in text:
            return _complain("no thread can be started: there is not enough memory, or a limit")
    return _unexpected(error)


def _unexpected(error: Exception) -> int:
    """Say in one line what nobody has foreseen, and keep the traceback for whoever mends it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    line = f"unexpected {type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
    try:
        number, name = tempfile.mkstemp(prefix="noiseproof-", suffix="-traceback.txt", text=True)
        with open(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exception(error, file=file)
        line += f"; please report it with {name}"
    except OSError:  # the line is better than nothing
        pass
    _complain(line)
    return 1


def _send(number: int) -> None:
    """Send a signal to the main thread, and wake it where it waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether a module is being imported.

    The C code of some forgets what is raised meanwhile, makes another error of it, or aborts.
    """
    while frame is not None and frame.f_code is not main.__code__:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _terminable(signals: list[int]) -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, so that nothing half written stays behind.

    Args:
        signals: where to note those that came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        times.append(time.monotonic())
        if times[-1] - times[0] > PATIENCE or not _is_importing(frame):
            raise KeyboardInterrupt
        again()

    def again() -> None:
        later = threading.Timer(0.002, _send, [signals[-1]])
        later.daemon = True
        later.start()
        waiting.append(later)

    def forgotten(told: "sys.UnraisableHookArgs") -> None:
        # Python forgets what is raised in a destructor or in a callback of its own: the command
        # would go on.
        if told.exc_type is KeyboardInterrupt and signals:
            again()
        else:
            hook(told)

    times: list[float] = []
    waiting: list[threading.Timer] = []
    heard = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored by the caller
        heard.append(signal.SIGINT)
    before = {number: signal.signal(number, stop) for number in heard}
    hook = sys.unraisablehook
    sys.unraisablehook = forgotten
    try:
        yield
    finally:
        for later in waiting:
            later.cancel()
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _complain(message: str) -> int:
    if len(message) > LONGEST:  # a file may hold a word of a million letters
        message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    with suppress(OSError):  # nobody hears it, and the exit code says it all the same
        print(f"noiseproof: {printable(' '.join(message.split()))}", file=sys.stderr)
    return 2

"""A bar with the time left."""
from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator, Optional, TextIO, Union

Show = Callable[[int, int], object]


def _clock(seconds: float) -> str:
    whole = int(seconds + 0.5)
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:02}:{whole % 60:02}"


def line(done: int, total: int, elapsed: float, before: int = 0) -> str:
    """
    >>> line(25, 100, 10.0)
    '[#######.......................]  25%  00:30 left'
    """
    share = done / total if total else 1.0
    filled = int(share * 30)
    left = _clock(elapsed * (total - done) / (done - before)) if done > before else "--:--"
    return f"[{'#' * filled}{'.' * (30 - filled)}] {int(share * 100):3}%  {left} left"


def _wanted(progress: Union[bool, None], stream: Optional[TextIO]) -> bool:
    if progress is None:
        return stream is not None and (stream.isatty() or "ipykernel" in sys.modules)
    return progress


def _write(stream: Optional[TextIO], text: str) -> None:
    """What cannot be written (a full disk, a closed stream) is dropped: no run ends for it."""
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            stream.write(text)
            stream.flush()


@contextlib.contextmanager
def bar(progress: Union[bool, None, Show], stream: Optional[TextIO]) -> Iterator[Optional[Show]]:
    """show(done, total), or None if nothing is to be shown. The bar is removed at the end."""
    if callable(progress):
        yield progress
        return
    if not _wanted(progress, stream):
        yield None
        return
    started = time.monotonic()
    before: list[int] = []

    def show(done: int, total: int) -> None:
        if not before:
            before.append(done)
        _write(stream, "\r" + line(done, total, time.monotonic() - started, before[0]))

    try:
        yield show
    finally:
        _write(stream, "\r" + " " * 60 + "\r")

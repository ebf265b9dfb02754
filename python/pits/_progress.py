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


def _wanted(progress: Union[bool, None], stream: TextIO) -> bool:
    if progress is None:
        return stream.isatty() or "ipykernel" in sys.modules
    return progress


@contextlib.contextmanager
def bar(progress: Union[bool, None, Show], stream: TextIO) -> Iterator[Optional[Show]]:
    """show(done, total), or None where nothing is to be shown. The bar is taken away at the end."""
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
        stream.write("\r" + line(done, total, time.monotonic() - started, before[0]))
        stream.flush()

    try:
        yield show
    finally:
        stream.write("\r" + " " * 60 + "\r")
        stream.flush()

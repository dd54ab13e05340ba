"""Fetch Spark's jars when they are first needed, and report progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from goldsmith.setup import jars

_AGAIN_SECONDS = 3.0


def ready(
    say: Callable[[str], None], *, fetch: Callable[..., tuple[Path, ...]] = jars.fetch
) -> tuple[Path, ...]:
    """Every jar that Spark needs; missing jars are fetched and checked first."""
    try:
        return jars.paths()
    except jars.JarsMissing as missing:
        say("Spark needs jars that are fetched once for this user and checked.")
        with _reporting(say, Path(missing.folder)):
            return fetch(say)


@contextmanager
def _reporting(say: Callable[[str], None], folder: Path) -> Iterator[None]:
    """Report the fetched bytes every few seconds."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(_AGAIN_SECONDS):
            if size := _fetched(folder):
                say(f"  {size / 1e6:,.0f} MB so far")

    thread = threading.Thread(target=tell, name="fetching", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _fetched(folder: Path) -> int:
    """The bytes in the temporary folders of a running fetch."""
    size = 0
    for file in folder.glob(".fetching-*/**/*.jar*"):
        try:
            size += file.stat().st_size
        except OSError:
            continue  # the fetch moved the file
    return size

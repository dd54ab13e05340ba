"""How an exception becomes an error code."""

from __future__ import annotations

from collections.abc import Callable

from goldsmith.errors import GoldsmithError

#: Returns the error code of an exception; workers use `healing.classify`.
CodeOf = Callable[[BaseException], str]


def own_code(error: BaseException) -> str:
    """The code of a GoldsmithError, the class name of any other exception."""
    return error.code if isinstance(error, GoldsmithError) else type(error).__name__

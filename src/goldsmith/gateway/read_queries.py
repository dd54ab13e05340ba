"""Parse queries in a separate process, `python -m goldsmith.gateway.read_queries`.

A hostile query could keep a parser busy for ever: the kernel ends the process after some seconds
of CPU time, and the queries after that one are read by the next process.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

#: CPU seconds of one query, and how many queries of a request may use them up.
_CPU_SECONDS = 5.0
_MOST_KILLED = 5
_SECONDS = 300.0


class QueryTables(NamedTuple):
    """The tables that a query reads and writes."""

    upstream: list[str]
    downstream: list[str]
    edges: list[list[str]]
    verb: str


UNREAD = QueryTables([], [], [], "")


def read_queries(texts: Sequence[tuple[str, str | None]], dialect: str) -> list[QueryTables]:
    """The tables of queries, each given with its default database."""
    found: list[QueryTables] = []
    killed = 0
    while len(found) < len(texts) and killed <= _MOST_KILLED:
        waiting = [[dialect, text, database] for text, database in texts[len(found) :]]
        try:
            done = subprocess.run(
                [sys.executable, "-m", __name__],
                input="".join(json.dumps(each) + "\n" for each in waiting),
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
            output = done.stdout
        except subprocess.TimeoutExpired as late:
            output = (late.stdout or b"").decode("utf-8", "replace")
        whole = [line for line in output.splitlines(keepends=True) if line.endswith("\n")]
        found += [QueryTables(*json.loads(line)) for line in whole]
        if len(found) < len(texts):
            found.append(UNREAD)
            killed += 1
    return found + [UNREAD] * (len(texts) - len(found))


def _main() -> None:
    from goldsmith.digest.digest import digest

    for line in sys.stdin:
        dialect, text, database = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
        try:
            answer = _tables(digest(text, dialect=dialect, default_db=database))
        except Exception:  # whatever a parser raises: the query is stored without its tables
            answer = UNREAD
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _tables(found: Any) -> QueryTables:
    verb = next((each.verb for each in found.statements if each.verb), "")
    return QueryTables(found.upstream, found.downstream, [list(e) for e in found.edges], verb)


if __name__ == "__main__":
    _main()

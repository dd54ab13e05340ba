"""`digest`: SQL scripts and query logs into tables, edges and columns, and into catalog rows."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import CliContext, echo, json_option, pass_cli, print_json, yes_option
from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from goldsmith.digest.values import Digest


#: No larger file is read: devices have no end, and neither do some archives.
_MOST_BYTES = 2**30


@dataclass(eq=False, kw_only=True)
class UnreadableSql(GoldsmithError):
    """A file given to the digest holds no text."""

    exit_code = 2

    file: str
    problem: str

    def __str__(self) -> str:
        return f"'{self.file}' cannot be digested: {self.problem}."

    @property
    def hint(self) -> str:
        return "Give SQL scripts, dbt models or query logs (JSON lines), in UTF-8, plain or as .gz."


@click.command()
@click.argument("files", nargs=-1, metavar="FILE…")
@click.option("--dialect", default="ansi", show_default=True, help="The SQL dialect.")
@click.option("--default-db", help="The database of names without one.")
@click.option("--default-schema", help="The schema of names without one.")
@click.option("--pipeline", help="The pipeline that gets the stages.")
@click.option("--jsonl", is_flag=True, help="Answer JSON lines from standard input, in order.")
@click.option("--apply", "apply_", is_flag=True, help="Write what was found into the catalog.")
@click.option("--reason", help="Why, for the history.")
@yes_option
@json_option
@pass_cli
def digest(
    cli: CliContext,
    files: tuple[str, ...],
    dialect: str,
    default_db: str | None,
    default_schema: str | None,
    pipeline: str | None,
    jsonl: bool,
    apply_: bool,
    reason: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Parse SQL and show which tables and columns it reads and writes.

    FILE is a SQL script, a dbt model, a query log (JSON lines, plain or .gz), or - for standard
    input. Exits 1 if a statement could not be read; everything readable is still digested.
    """
    from goldsmith.digest.dialects import dialect_name

    dialect_name(dialect)
    if jsonl:
        _answer_lines()
        return
    if not files:
        raise click.UsageError("Give FILE…, or --jsonl.")
    from goldsmith.digest import describe

    known: tuple[str, ...] = ()
    if apply_:
        from goldsmith.cli.digest_apply import catalog_view

        known = catalog_view(cli).ids
    found, queries = _digest_files(files, dialect, default_db, default_schema, known)
    if apply_:
        from goldsmith.cli.digest_apply import apply_digest

        apply_digest(cli, found, pipeline, dialect, reason=reason, yes=yes, as_json=as_json)
    elif as_json:
        print_json({**describe.as_plain(found), "queries": queries})
    else:
        for line in describe.lines_of(found):
            echo(line)
        echo(describe.summary(found, queries))
    if found.errors:
        raise click.exceptions.Exit(1)


def _answer_lines() -> None:
    from goldsmith.digest.guard import Guard, StatementKilled
    from goldsmith.digest.json_lines import answer_line

    with Guard(answer_line) as guard:
        for raw in sys.stdin.buffer:
            line = raw.decode("utf-8", "backslashreplace")
            if not line.strip():
                continue
            try:
                raw.decode("utf-8")
                answer = guard.call(line)
            except UnicodeDecodeError:
                answer = _failed(line, "the line is not UTF-8")
            except StatementKilled as killed:
                answer = _failed(line, str(killed))
            echo(json.dumps(answer))


def _failed(line: str, problem: str) -> dict[str, Any]:
    try:
        identity = json.loads(line).get("id")
    except (ValueError, AttributeError):
        identity = None
    empty: dict[str, Any] = {"upstream": [], "downstream": [], "edges": [], "columns": []}
    return {"id": identity, **empty, "error": problem}


def _digest_files(
    files: tuple[str, ...],
    dialect: str,
    default_db: str | None,
    default_schema: str | None,
    known: tuple[str, ...],
) -> tuple[Digest, int]:
    from goldsmith.digest.guard import CPU_SECONDS, Guard, StatementKilled
    from goldsmith.digest.session import combine
    from goldsmith.digest.texts import DigestRequest, digest_text
    from goldsmith.digest.values import StatementDigest

    statements: list[StatementDigest] = []
    queries = 0
    with Guard(digest_text, seconds=600, statement_seconds=CPU_SECONDS) as guard:
        for name in files:
            text = _text(name)
            request = DigestRequest(text, name, dialect, default_db, default_schema, known)
            try:
                found, count = guard.call(request)
            except StatementKilled as killed:
                found, count = [StatementDigest(file=name, error=str(killed))], 0
            statements += found
            queries += count
    return combine(statements), queries


def _text(name: str) -> str:
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
        if data[:2] == b"\x1f\x8b":
            with gzip.open(BytesIO(data)) as unpacked:
                data = unpacked.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableSql(file=name, problem=str(error)) from error
    if len(data) > _MOST_BYTES:
        raise UnreadableSql(file=name, problem=f"it is larger than {_MOST_BYTES >> 20} MB")
    if b"\0" in data[:65_536]:
        raise UnreadableSql(file=name, problem="it is a binary file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"line {line} is not UTF-8"
        raise UnreadableSql(file=name, problem=problem) from error

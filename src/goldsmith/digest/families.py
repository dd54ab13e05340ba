"""Statements read from tokens: files in and out of tables, and what no grammar agrees on."""

from __future__ import annotations

from collections.abc import Callable

from goldsmith.digest.cursor import Cursor
from goldsmith.digest.keywords import PARSED_KINDS, QUIET
from goldsmith.digest.lexer import DOLLAR, QUOTED, STRING, SYMBOL, WORD, Token
from goldsmith.digest.names import Naming, is_location, stage_name
from goldsmith.digest.values import EvidenceClass, RuleSuggestion, StatementDigest

#: Reads the query inside a statement: tokens to the tables it reads.
ReadQuery = Callable[[list[Token]], StatementDigest]


def read_family(tokens: list[Token], naming: Naming, query: ReadQuery) -> StatementDigest | None:
    """What a statement does, if its first uppers tell; None if a parser has to read it."""
    head = tokens[0].upper
    cursor = Cursor(tokens)
    if head == "\\" and cursor.peek(1).upper == "COPY":
        return read_family(tokens[1:], naming, query)  # psql's \copy
    if head == "INSERT" and cursor.find("INTO"):
        into = cursor.name()
        if into and cursor.sequence("FROM INFILE") and cursor.peek().kind == STRING:
            return moved("INSERT", [cursor.next().value], [naming.full(into)])
        return None
    if head == "COPY":
        return _copy(cursor, naming, query)
    if head == "UNLOAD":
        return _unload(cursor, naming, query)
    if head in ("LOAD", "IMPORT"):
        return _load(cursor, naming)
    if head == "EXPORT":
        return _export(cursor, naming, query)
    if head == "APPLY" and cursor.peek(1).upper == "CHANGES":
        return _apply_changes(cursor, naming)
    if head == "BULK" and cursor.peek(1).upper == "INSERT":
        return _bulk_insert(cursor, naming)
    if head in ("PUT", "GET") and (
        cursor.peek(1).kind == STRING or cursor.peek(1).value in ("file", "FILE")
    ):
        return StatementDigest(verb=head, evidence=EvidenceClass.TOKENS)
    if head == "CREATE":
        return _create(cursor, naming, query)
    if (
        head == "DELETE"
        and cursor.peek(1).upper == "FROM"
        and cursor.peek(2).upper == "TABLE"
        and cursor.peek(3).kind in (WORD, QUOTED)
    ):
        return StatementDigest(verb="DELETE", evidence=EvidenceClass.TOKENS)
    if head == "SELECT" and cursor.peek(1).upper == "SWAP_PARTITIONS_BETWEEN_TABLES":
        strings = [token.value for token in tokens if token.kind == STRING]
        return moved("SWAP PARTITIONS", strings[:1], strings[-1:])
    if head == "CACHE" and any(token.upper == "SELECT" for token in tokens):
        return None
    if head in QUIET:
        return StatementDigest(verb=head, evidence=EvidenceClass.TOKENS)
    return None


def moved(
    verb: str, upstream: list[str], downstream: list[str], write: str = "append"
) -> StatementDigest:
    """A statement that copies everything from some datasets to others."""
    return StatementDigest(
        verb=verb,
        upstream=list(dict.fromkeys(upstream)),
        downstream=list(dict.fromkeys(downstream)),
        edges=[(up, down) for down in dict.fromkeys(downstream) for up in dict.fromkeys(upstream)],
        evidence=EvidenceClass.UNAMBIGUOUS,
        moves_data=True,
        write=write,
    )


def _file_or_table(cursor: Cursor, naming: Naming) -> str | None:
    """A location (string, stage) or the name of a table."""
    token = cursor.peek()
    if token.kind == STRING or (token.kind == QUOTED and is_location(token.value)):
        cursor.next()
        staged = naming.dialect == "snowflake" and token.value[:1] == "@"
        return stage_name(token.value) if staged else token.value
    if token.value[:1] == "@" or (token.kind == SYMBOL and token.value == "@"):
        return _stage(cursor)
    parts = cursor.name()
    return naming.full(parts) if parts else None


def _stage(cursor: Cursor) -> str:
    """A stage with its path (`@db.stage/path/`), as written: its tokens touch each other."""
    first = cursor.next()
    text, end = first.value, first.end
    while (
        not cursor.over
        and cursor.peek().start == end
        and cursor.peek().value not in ("(", ")", ";", ",")
    ):
        token = cursor.next()
        text += token.value if token.kind == QUOTED else token.value.lower()
        end = token.end
    return stage_name(text) if first.kind == WORD else text


def _copy(cursor: Cursor, naming: Naming, query: ReadQuery) -> StatementDigest | None:
    """COPY of Redshift, PostgreSQL, DuckDB and Vertica; COPY INTO of Snowflake and Databricks."""
    cursor.next()
    into = cursor.accept("INTO")
    if cursor.peek().value == "(":
        inside = query(cursor.skip_group())
        if not cursor.accept("TO"):
            return None
        target = _file_or_table(cursor, naming)
        return moved("COPY", inside.upstream, [target] if target else [], "overwrite")
    first = _file_or_table(cursor, naming)
    if first is None:
        return None
    columns = [t.value.lower() for t in cursor.skip_group() if t.kind in (WORD, QUOTED)]
    del columns
    mode = "overwrite" if is_location(first) and into else "append"
    if cursor.accept("TO"):
        target = _file_or_table(cursor, naming)
        program = target in (None, "stdout", "program")
        return moved("COPY", [first], [] if program or target is None else [target], "overwrite")
    found = cursor.accept("FROM") or cursor.find("FROM")
    if not found:
        return None
    if cursor.peek().value == "(":
        inner = cursor.skip_group()
        found_inside = _from_stage(inner, naming) or query(inner).upstream
        return _with_limit(
            moved(
                "COPY",
                found_inside,
                [first],
                mode,
            ),
            cursor,
        )
    if cursor.accept("LOCAL"):
        pass
    source = _file_or_table(cursor, naming)
    standard = source is not None and source.lower() in ("stdin", "program") and not into
    copied = moved(
        "COPY",
        [] if standard or source is None else [source, *_more_locations(cursor)],
        [first],
        mode,
    )
    return _with_limit(copied, cursor)


def _from_stage(tokens: list[Token], naming: Naming) -> list[str]:
    """The stages and files a query inside COPY INTO reads."""
    cursor = Cursor(tokens)
    found: list[str] = []
    while cursor.find("FROM", "JOIN"):
        token = cursor.peek()
        if token.value[:1] == "@" or token.kind == STRING:
            name = _file_or_table(cursor, naming)
            if name:
                found.append(name)
    return found


def _with_limit(digest: StatementDigest, cursor: Cursor) -> StatementDigest:
    """COPY's MAXERROR suggests how many rows may be lost."""
    uppers = [token.upper for token in cursor.tokens]
    if "MAXERROR" in uppers:
        at = uppers.index("MAXERROR") + 1
        values = [token.value for token in cursor.tokens[at : at + 2] if token.value.isdigit()]
        if values and digest.downstream:
            check = {"type": "row_count", "min": 1}
            clause = f"COPY … MAXERROR {values[0]}"
            digest.rules.append(RuleSuggestion(digest.downstream[0], check, clause))
    return digest


def _unload(cursor: Cursor, naming: Naming, query: ReadQuery) -> StatementDigest | None:
    from goldsmith.digest.lexer import tokenize

    cursor.next()
    inside = cursor.skip_group()
    if len(inside) == 1 and inside[0].kind in (STRING, DOLLAR):
        inside = tokenize(inside[0].value.replace("\\'", "'"), naming.dialect)
    upstream = query(inside).upstream if inside else []
    if not cursor.accept("TO"):
        return None
    target = _file_or_table(cursor, naming)
    return moved("UNLOAD", upstream, [target] if target else [], "overwrite")


def _load(cursor: Cursor, naming: Naming) -> StatementDigest | None:
    """LOAD DATA of Hive, MySQL and BigQuery; IMPORT of Impala and Exasol."""
    sources: list[str] = []
    target: str | None = None
    while not cursor.over:
        token = cursor.next()
        if token.upper == "FROM" and not sources and cursor.peek().kind == STRING:
            sources = [cursor.next().value]  # Hive's IMPORT TABLE t FROM '…'
        elif token.upper == "TABLE" and target is None:
            parts = cursor.name()
            target = naming.full(parts) if parts else None
        elif token.upper in ("INPATH", "INFILE", "URIS", "FILE"):
            while cursor.peek().value in ("=", "[", "("):
                cursor.next()
            location = cursor.string()
            if location and not sources:
                sources = [location, *_more_locations(cursor)]
        elif token.upper in ("INTO", "OVERWRITE"):
            cursor.accept("INTO")
            cursor.accept("TABLE")
            cursor.accept("TEMP", "TEMPORARY")
            cursor.accept("TABLE")
            if target is None and cursor.peek().kind in (WORD, QUOTED):
                parts = cursor.name()
                target = naming.full(parts) if parts else None
        elif token.upper == "FROM" and cursor.peek().upper == "FILES":
            cursor.next()
            locations = [t.value for t in cursor.skip_group() if t.kind == STRING]
            sources = sources or [text for text in locations if is_location(text)]
    if target is None:
        return None
    return moved("LOAD", sources, [target])


def _apply_changes(cursor: Cursor, naming: Naming) -> StatementDigest | None:
    """Databricks' APPLY CHANGES INTO t FROM [STREAM(]s[)] KEYS (…)."""
    if not cursor.find("INTO"):
        return None
    target = cursor.name()
    if not target or not cursor.find("FROM"):
        return None
    if cursor.accept("STREAM"):
        cursor.accept("(")
    source = cursor.name()
    if not source:
        return None
    return moved("APPLY CHANGES", [naming.full(source)], [naming.full(target)], "merge")


def _export(cursor: Cursor, naming: Naming, query: ReadQuery) -> StatementDigest | None:
    """BigQuery's EXPORT DATA, Hive's EXPORT TABLE, Vertica's EXPORT TO."""
    cursor.next()
    target: str | None = None
    if cursor.accept("TABLE"):
        parts = cursor.name()
        if cursor.find("TO"):
            target = cursor.string()
        return moved(
            "EXPORT", [naming.full(parts)] if parts else [], [target] if target else [], "overwrite"
        )
    for index, token in enumerate(cursor.tokens):
        if token.upper in ("URI", "DIRECTORY", "PATH", "LOCATION", "FILE"):
            later = [t for t in cursor.tokens[index : index + 4] if t.kind == STRING]
            target = later[0].value if later else target
    if not cursor.find("AS"):
        return None
    inside = query(cursor.tokens[cursor.index :])
    return moved("EXPORT", inside.upstream, [target] if target else [], "overwrite")


def _bulk_insert(cursor: Cursor, naming: Naming) -> StatementDigest | None:
    cursor.index = 2
    parts = cursor.name()
    if not parts or not cursor.accept("FROM"):
        return None
    source = cursor.string()
    return moved("BULK INSERT", [source] if source else [], [naming.full(parts)])


def _create(cursor: Cursor, naming: Naming, query: ReadQuery) -> StatementDigest | None:
    """CREATE STAGE, EXTERNAL TABLE with a location, PIPE, COPY/CLONE, and quiet kinds."""
    cursor.next()
    cursor.sequence("OR REPLACE")
    cursor.sequence("OR ALTER")
    cursor.sequence("OR REFRESH")
    external = False
    while cursor.peek().upper in (
        "TEMP",
        "TEMPORARY",
        "TRANSIENT",
        "LOCAL",
        "GLOBAL",
        "EXTERNAL",
        "VOLATILE",
        "FOREIGN",
        "SECURE",
        "SNAPSHOT",
        "UNLOGGED",
    ):
        external |= cursor.peek().upper in ("EXTERNAL", "FOREIGN")
        cursor.next()
    kind = cursor.next().upper
    if kind == "STAGE":
        return _stage_or_table(cursor, naming, "CREATE STAGE", ("URL",))
    if kind == "PIPE" and cursor.find("AS"):
        return _copy(cursor, naming, query) if cursor.peek().upper == "COPY" else None
    if kind == "TABLE" and external:
        return _stage_or_table(
            cursor, naming, "CREATE EXTERNAL TABLE", ("LOCATION", "PATH", "URIS", "FILENAME")
        )
    if kind == "TABLE" and any(
        a.upper == "ORGANIZATION" and b.upper == "EXTERNAL"
        for a, b in zip(cursor.tokens, cursor.tokens[1:], strict=False)
    ):
        return _stage_or_table(cursor, naming, "CREATE EXTERNAL TABLE", ("LOCATION",))
    if kind == "TABLE":
        return _table_options(cursor, naming)
    if kind in ("STREAM",):
        cursor.sequence("IF NOT EXISTS")
        name = cursor.name()
        if name and cursor.find("TABLE", "VIEW"):
            source = cursor.name()
            if source:
                return moved("CREATE STREAM", [naming.full(source)], [naming.full(name)])
    if kind in PARSED_KINDS:
        return None
    if kind == "SCHEMA" and any(t.upper == "CLONE" for t in cursor.tokens):
        return StatementDigest(verb="CREATE SCHEMA", evidence=EvidenceClass.TOKENS)
    return StatementDigest(verb=f"CREATE {kind}", evidence=EvidenceClass.TOKENS)


def _stage_or_table(
    cursor: Cursor, naming: Naming, verb: str, keys: tuple[str, ...]
) -> StatementDigest | None:
    cursor.sequence("IF NOT EXISTS")
    parts = cursor.name()
    if not parts:
        return None
    target = naming.full(parts)
    if _has_query(cursor):
        return None
    if cursor.sequence("LIKE"):
        return None
    for index in range(cursor.index, len(cursor.tokens) - 1):
        if cursor.tokens[index].upper in keys:
            inner = Cursor(cursor.tokens, index + 1)
            while inner.peek().value in ("=", "[", "("):
                inner.next()
            placed = inner.peek().kind == STRING or inner.peek().value[:1] == "@"
            source = _file_or_table(inner, naming)
            if source and (placed or is_location(source)):
                done = moved(verb, [source, *_more_locations(inner)], [target])
                done.write = None
                return done
    done = moved(verb, [], [target])
    done.moves_data, done.write = False, None
    return done


def _more_locations(cursor: Cursor) -> list[str]:
    """The further locations of a list of them."""
    found = []
    while cursor.peek().value == "," and cursor.peek(1).kind == STRING:
        cursor.next()
        found.append(cursor.next().value)
    return [location for location in found if is_location(location)]


def _has_query(cursor: Cursor) -> bool:
    for index in range(cursor.index, len(cursor.tokens)):
        behind = Cursor(cursor.tokens, index)
        if behind.accept("AS"):
            while behind.accept("("):
                pass
            if behind.peek().upper in ("SELECT", "WITH"):
                return True
    return False


def _table_options(cursor: Cursor, naming: Naming) -> StatementDigest | None:
    """`CREATE TABLE t CLONE s`, `COPY s`, `LIKE s`, `SHALLOW CLONE s`."""
    cursor.sequence("IF NOT EXISTS")
    parts = cursor.name()
    if not parts:
        return None
    cursor.accept("SHALLOW", "DEEP")
    word = cursor.peek().upper
    if word in ("CLONE", "COPY"):
        cursor.next()
        source = cursor.name()
        if source:
            return moved("CREATE TABLE", [naming.full(source)], [naming.full(parts)], "overwrite")
    return None

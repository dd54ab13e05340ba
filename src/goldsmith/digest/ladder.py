"""Parse a statement: its dialect, a few rewrites, related dialects; each rung sets the evidence."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from goldsmith.digest.dialects import RELATED
from goldsmith.digest.values import EvidenceClass

# sqlglot logs a warning for each statement it does not understand; the ladder goes on instead.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

#: Texts longer than this are read from tokens: a parser would take minutes.
MOST_CHARACTERS = 2_000_000
#: Deeper nesting than this is read from tokens.
MOST_DEPTH = 400

_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), replacement)
    for pattern, replacement in (
        (r"\bINSERT\s+OVERWRITE\s+INTO\b", "INSERT OVERWRITE"),
        (r"\bINSERT\s+OVERWRITE\s+(?!TABLE\b|LOCAL\b|DIRECTORY\b)", "INSERT OVERWRITE TABLE "),
        (
            r"\bWITH\s+(?:ROW\s+ACCESS|MASKING)\s+POLICY\s+[\w.]+(?:\s+(?:ON|USING))?\s*\([^)]*\)",
            "",
        ),
        (r"\b(?:WITH\s+)?TAG\s*\((?:[^()]|\([^)]*\))*\)", ""),
        (
            r"\bWITH\s*\(\s*(?:NOLOCK|TABLOCK\w*|HOLDLOCK|ROWLOCK|READ\w+|UPDLOCK|XLOCK|NOWAIT)[^)]*\)",
            "",
        ),
        (r"\bOPTION\s*\([^)]*\)\s*$", ""),
        (
            r"^\s*(CREATE\s+(?:OR\s+(?:REPLACE|REFRESH)\s+)?)"
            r"(?:(?:SECURE|FORCE|NOFORCE|EDITIONABLE|TRANSIENT|HYBRID|MULTISET|DYNAMIC|LIVE|STREAMING)\s+)+",
            r"\1",
        ),
        (r"\bCOPY\s+GRANTS\b", ""),
        (r"\.\.\.", " "),
        (r"\bMERGE\s+WITH\s+SCHEMA\s+EVOLUTION\s+INTO\b", "MERGE INTO"),
        (r"\bWITH\s+(?:(?:CASCADED|LOCAL)\s+)?CHECK\s+OPTION\b[^)]*$", ""),
        (r"\bWITH\s+READ\s+ONLY\s*$", ""),
        (r"^\s*ALTER\s+(?=(?:MATERIALIZED\s+)?VIEW\b.*?\bAS\b)", "CREATE OR REPLACE "),
        (
            r"^\s*CREATE\s+(?:OR\s+REPLACE\s+)?RECURSIVE\s+VIEW\s+([\w.\"`]+)\s*(\([^()]*\))\s*AS\b(.*)$",
            r"CREATE VIEW \1 AS WITH RECURSIVE \1 \2 AS (\3) SELECT * FROM \1",
        ),
        # MySQL: the rows of a query go into a file.
        (
            r"^(.*?)\bINTO\s+(?:OUTFILE|DUMPFILE)\s+('[^']*')(?:(?!\bFROM\b).)*(.*)$",
            r"INSERT OVERWRITE DIRECTORY \2 \1 \3",
        ),
        # Teradata: how a column is shown.
        (r"\(\s*(?:TITLE|FORMAT)\s+'[^']*'\s*\)", ""),
        # Oracle: rows deleted after an UPDATE of a MERGE; T-SQL: OUTPUT of a MERGE.
        (
            r"^(\s*MERGE\b.*?\bUPDATE\s+SET\b.*?)\bDELETE\s+WHERE\b.*?(?=\bWHEN\s+NOT\b|$)",
            r"\1",
        ),
        (r"^(\s*MERGE\b.*\bTHEN\b.*?)\bOUTPUT\b.*$", r"\1"),
        (
            r"\bOUTPUT\s+(?:inserted|deleted)\.(?:(?!\bSELECT\b|\bVALUES\b).)*?\bINTO\s+[\w.#@\[\]\"]+",
            "",
        ),
        (r"^\s*REPLACE\s+INTO\b", "INSERT INTO"),
        (r"^\s*REPLACE\s+TABLE\b", "CREATE OR REPLACE TABLE"),
        (
            r"\bOVERWRITE\s+(?:LOCAL\s+)?DIRECTORY\s+('[^']*')\s+USING\s+\w+"
            r"(?:\s+OPTIONS\s*\([^)]*\))?",
            r"OVERWRITE DIRECTORY \1",
        ),
        (
            r"\bOPENROWSET\s*\(\s*BULK\s+('[^']*')[^)]*\)"
            r"(?:\s*WITH\s*\((?:[^()]|\([^()]*\))*\))?",
            r"read_files(\1)",
        ),
        (r"\bAS\s+((?:UN)?PIVOT\s.*)$", r"AS SELECT * FROM (\1)"),
    )
)
#: Clauses of a CREATE … AS between the name and the query that grammars trip over.
_HEAD = re.compile(
    r"^(\s*CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:[A-Z]+\s+){0,3}?(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    r"(?:[\w$\"`\[\].#-]|\{\{[^}]*\}\})+)(.*?)\bAS\s*(\(*\s*(?:WITH|SELECT)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
#: A table in square brackets, in a dialect that has no such names.
_BRACKETS = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+\[[a-z_][^\],()']*\]", re.IGNORECASE)
_TAIL = re.compile(r"\b(?:WHERE|AND|ON|HAVING|SET|GROUP\s+BY|ORDER\s+BY)\s*$", re.IGNORECASE)


def parse(text: str, dialect: str) -> Iterator[tuple[exp.Expr, EvidenceClass, str]]:
    """Every tree that a rung gives, best first; the caller stops at the first that answers."""
    if len(text) > MOST_CHARACTERS or _too_deep(text):
        return
    if dialect != "tsql" and _BRACKETS.search(text):
        # Elsewhere `[name]` is an array, so a grammar would read no table at all.
        tree = _tree(text, "tsql")
        if tree is not None:
            yield tree, EvidenceClass.OTHER_DIALECT, text
    tree = _tree(text, dialect)
    if tree is not None:
        yield tree, EvidenceClass.UNAMBIGUOUS, text
    for changed in _rewritten(text):
        tree = _tree(changed, dialect)
        if tree is not None:
            yield tree, EvidenceClass.UNAMBIGUOUS, changed
            break
    for other in RELATED.get(dialect, ("", "postgres", "snowflake")):
        for version in (text, *_rewritten(text)):
            tree = _tree(version, other)
            if tree is not None:
                yield tree, EvidenceClass.OTHER_DIALECT, version
                break


def _too_deep(text: str) -> bool:
    if text.count("(") < MOST_DEPTH:
        return False
    depth = most = 0
    for sign in re.findall(r"[()]", text):
        depth += 1 if sign == "(" else -1
        most = max(most, depth)
    return most >= MOST_DEPTH


def _rewritten(text: str) -> Iterator[str]:
    changed = text
    for pattern, replacement in _REWRITES:
        changed = pattern.sub(replacement, changed)
    changed = _TAIL.sub("", changed.rstrip().rstrip(";"))
    if changed != text:
        yield changed
    head = _HEAD.match(changed)
    if head is not None and head.group(2).strip():
        columns = re.match(r"\s*\(\s*[\w\"`]+\s*(?:,\s*[\w\"`]+\s*)*\)", head.group(2))
        listed = columns.group() if columns else ""
        yield f"{head.group(1)}{listed} AS {head.group(3)}"


def _tree(text: str, dialect: str) -> exp.Expr | None:
    """The tree of a text, if the grammar reads it as something it understands."""
    try:
        trees = Dialect.get_or_raise(dialect or None).parse(text, error_level=ErrorLevel.IMMEDIATE)
    except (
        SqlglotError,
        RecursionError,
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
        IndexError,
    ):
        return None
    trees = [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]
    if len(trees) != 1 or isinstance(trees[0], exp.Command):
        return None
    return trees[0]

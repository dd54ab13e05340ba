"""SQL in Spark's own dialect as it was written: what a stage takes out of the text or adds to it.

The text is never printed anew: sqlglot prints some functions of Spark as other ones, for example
`percentile_cont` as `percentile_approx`. Each change is made in the text, and the changed text is
parsed and compared with the query that is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from goldsmith.planning.clauses import names_of_list
from goldsmith.planning.query import (
    is_spark,
    printed,
    query_of,
    renames,
    select_of,
    statement_of,
)

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

_MARK = "goldsmith_end_of_columns_"
_BACKSLASHES = re.compile(r"--[^\n]*(\\)\n")


def as_spark(text: str, dialect: str | None) -> str:
    """The query as Spark will run it."""
    if is_spark(dialect):
        return as_written(text, dialect)
    return printed(query_of(statement_of(text, dialect))[0], dialect)


def as_written(text: str, dialect: str | None = None) -> str:
    """The SELECT of a statement, as written.

    Error messages are easier to follow with the original text than with sqlglot's. The text before
    the SELECT becomes spaces, so that line and column numbers stay the same. A column list becomes
    a SELECT around it. Raises ValueError where the SELECT cannot be found in the text.
    """
    from sqlglot import exp
    from sqlglot.tokenizer_core import TokenType

    statement = statement_of(text, dialect)
    _refuse_continued_comments(text, dialect)
    if not isinstance(statement, exp.Create | exp.Insert) and ";" not in text:
        return text.strip()
    tokens = [
        token for token in _tokens(text, dialect) if token.token_type is not TokenType.SEMICOLON
    ]
    text = text[: tokens[-1].end + 1]
    if not isinstance(statement, exp.Create | exp.Insert):
        return text.strip()
    written = statement.this
    names = written.expressions if isinstance(written, exp.Schema) else ()
    last = names[-1] if names else written.parts[-1]
    kind = TokenType.INSERT if isinstance(statement, exp.Insert) else TokenType.CREATE
    query, _table = select_of(statement)
    skipped = (TokenType.R_PAREN, TokenType.ALIAS) if names else (TokenType.ALIAS,)
    for head in (token.start for token in tokens if token.token_type is kind):
        after = (token for token in tokens if token.start > max(last.meta["end"], head))
        begins = next(token.start for token in after if token.token_type not in skipped)
        kept = text[:head] + re.sub(r"[^\n]", " ", text[head:begins]) + text[begins:]
        # It means another query if a column called `insert` was taken for INSERT.
        if _means(kept, dialect, query):
            return _listed(kept, names) if renames(query, names_of_list(written)) else kept
    raise ValueError("its SELECT cannot be told apart from the rest: leave only the SELECT")


def _refuse_continued_comments(text: str, dialect: str | None) -> None:
    """Raise for a comment that ends in a backslash: to Spark, the next line belongs to it."""
    found = [match.start(1) for match in _BACKSLASHES.finditer(text)]
    tokens = _tokens(text, dialect) if found else []
    if any(not any(token.start <= at <= token.end for token in tokens) for at in found):
        raise ValueError(
            "a comment ends in a backslash, so that Spark takes the next line for a part of it:"
            " leave the backslash out"
        )


def _listed(text: str, names: Iterable[exp.Expr]) -> str:
    """The query with its columns renamed, by position, to the column list of the INSERT."""
    listed = ", ".join(name.sql("spark", identify=True) for name in names)
    return f"SELECT {listed} FROM ({text}\n) AS listed({listed})"


def with_source_file(text: str, dialect: str | None, dataset: str) -> str | None:
    """The query, of which every result row names its file too; None if it cannot be added."""
    from sqlglot import exp

    from goldsmith.planning.provenance import SOURCE_FILE, select_source_file

    wanted = _parsed(text, dialect)
    selects = list(wanted.find_all(exp.Select))
    columns = [len(select.expressions) for select in selects]
    if not select_source_file(wanted, dataset):
        return None
    marked, ends = _marked(text, dialect)
    found = list(_parsed(marked, dialect).find_all(exp.Select)) if ends else []
    if len(found) != len(selects):
        return None
    cuts = []
    for select, count, twin in zip(selects, columns, found, strict=True):
        if len(select.expressions) > count:
            mark = twin.expressions[-1].alias
            if not mark.startswith(_MARK):
                return None
            cuts.append((ends[int(mark.removeprefix(_MARK))], select.expressions[-1].sql("spark")))
    for end, column in sorted(cuts, reverse=True):
        text = f"{text[:end]}, {column}{text[end:]}"
    assert SOURCE_FILE in text
    return text if _means(text, dialect, wanted) else None


def _marked(text: str, dialect: str | None) -> tuple[str, list[int]]:
    """The text with one more column in each SELECT, and the positions of these columns."""
    ends = list(_ends_of_columns(_tokens(text, dialect), len(text)))
    marked = text
    for number, end in reversed(list(enumerate(ends))):
        marked = f"{marked[:end]}, 1 AS {_MARK}{number}{marked[end:]}"
    return marked, ends


def _ends_of_columns(tokens: list[Token], length: int) -> Iterator[int]:
    """Where the columns of each SELECT end, as far as words and parentheses tell."""
    from sqlglot.tokenizer_core import TokenType as T

    opening, closing = (T.L_PAREN, T.L_BRACKET, T.L_BRACE), (T.R_PAREN, T.R_BRACKET, T.R_BRACE)
    ending = {T.FROM, T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY, T.LIMIT, T.QUALIFY, T.WINDOW}
    ending |= {T.UNION, T.EXCEPT, T.INTERSECT, T.LATERAL, T.CLUSTER_BY, T.SORT_BY}
    ending |= {T.DISTRIBUTE_BY, T.PIPE_GT, T.SEMICOLON}
    #: For each open parenthesis: the columns of a SELECT are being read.
    stack = [False]
    before: Token | None = None
    for token in tokens:
        kind = token.token_type
        previous = before.token_type if before is not None else None
        is_end = kind in ending and not (kind is T.FROM and previous is T.DISTINCT)
        is_end = is_end and not (kind is T.EXCEPT and previous is T.STAR)
        if stack[-1] and (is_end or kind in closing) and before is not None:
            yield before.end + 1
            stack[-1] = False
        if kind is T.SELECT:
            stack[-1] = True
        elif kind in opening:
            stack.append(False)
        elif kind in closing and len(stack) > 1:
            stack.pop()
        before = token
    if stack[-1] and before is not None:
        yield before.end + 1


def _tokens(text: str, dialect: str | None) -> list[Token]:
    from sqlglot.dialects.dialect import Dialect

    return Dialect.get_or_raise(dialect or "spark").tokenize(text)


def _parsed(text: str, dialect: str | None) -> exp.Query:
    return query_of(statement_of(text, dialect))[0]


def _means(text: str, dialect: str | None, query: exp.Query) -> bool:
    from sqlglot.errors import SqlglotError

    try:
        return bool(_parsed(text, dialect) == query)
    except (SqlglotError, ValueError):
        return False

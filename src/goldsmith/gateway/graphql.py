"""Answer GraphQL: the subset of Monte Carlo's schema that pushes are checked and deleted with."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from typing import Any

import graphql
from graphql import GraphQLError, GraphQLResolveInfo, GraphQLScalarType, GraphQLSchema

from goldsmith.errors import GoldsmithError
from goldsmith.gateway import lineage_answers, mutations, queries
from goldsmith.gateway.checking import event_time
from goldsmith.gateway.queries import Asker
from goldsmith.gateway.store import storable
from goldsmith.journal.gateway_tables import GatewayKey
from goldsmith.journal.journal import Journal

_LOG = logging.getLogger(__name__)
#: Levels of a query, and its tokens: more is refused before it is parsed.
DEEPEST, _MOST_TOKENS = 25, 10_000
_NOT_BRACES = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*')
_FOR_EVER = "9999-12-31T00:00:00+00:00"


def answer(journal: Journal, key: GatewayKey, body: Any) -> tuple[int, dict[str, Any]]:
    """The status and the answer of a GraphQL request."""
    if not isinstance(body, dict) or not isinstance(body.get("query"), str):
        return 400, _refusal("The body is not an object with the key 'query'.")
    text, variables = body["query"], body.get("variables")
    variables = {} if variables is None else storable(variables)
    if not isinstance(variables, dict):
        return 400, _refusal("'variables' is not an object.")
    if (problem := too_deep(text)) is not None:
        return 400, _refusal(problem)
    try:
        document = graphql.parse(text, max_tokens=_MOST_TOKENS)
    except GraphQLError as error:
        return 400, _refusal(error.message)
    wrong = graphql.validate(schema(), document)
    if wrong:
        return 400, {"errors": [error.formatted for error in wrong[:20]]}
    result = graphql.execute_sync(
        schema(),
        document,
        root_value=_resolvers(),
        context_value=Asker(journal, key),
        variable_values=variables,
        operation_name=body.get("operationName"),
        field_resolver=_resolve,
    )
    found: dict[str, Any] = {"data": result.data}
    if result.errors:
        found["errors"] = [_shown(error) for error in result.errors]
    return 200, found


def too_deep(text: str) -> str | None:
    """Why a query is not parsed: its braces, brackets and parentheses are too deep."""
    depth = 0
    for character in _NOT_BRACES.sub("", text):
        depth += (character in "{[(") - (character in "}])")
        if depth > DEEPEST:
            return f"The query is deeper than {DEEPEST} levels."
    return None


def _refusal(message: str) -> dict[str, Any]:
    return {"errors": [{"message": message}]}


def _shown(error: GraphQLError) -> dict[str, Any]:
    original = error.original_error
    shown = dict(error.formatted)
    if isinstance(original, GoldsmithError):
        shown["message"] = f"{original} {original.hint}".strip()
        shown["extensions"] = {"code": original.code}
    elif original is not None:
        # Texts of unexpected errors may hold what the asker may not see.
        _LOG.error("a GraphQL request failed unexpectedly", exc_info=original)
        shown["message"] = "The request failed unexpectedly."
    return shown


@cache
def schema() -> GraphQLSchema:
    """The schema, with its scalars."""
    text = (files("goldsmith.gateway") / "schema.graphql").read_text("utf-8")
    built = graphql.build_schema(text)
    readers: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "UUID": (_read_uuid, str),
        "DateTime": (_read_moment, _write_moment),
        "Date": (_read_moment, lambda value: value.isoformat()),
    }
    for name, (read, write) in readers.items():
        scalar = built.type_map[name]
        assert isinstance(scalar, GraphQLScalarType)
        # build_schema makes scalars that take anything; these check and convert.
        vars(scalar).update(
            parse_value=read,
            coerce_input_value=read,
            serialize=write,
            coerce_output_value=write,
            parse_literal=lambda node, _=None, read=read: read(getattr(node, "value", None)),
        )
    return built


def _read_uuid(value: Any) -> str:
    try:
        return str(uuid.UUID(value))
    except (ValueError, TypeError, AttributeError):
        raise GraphQLError(f"{str(value)[:100]!r} is not a UUID.") from None


def _read_moment(value: Any) -> datetime:
    if isinstance(value, str) and value.startswith("9999"):
        return datetime(9999, 12, 31, tzinfo=UTC)
    try:
        return event_time(value)
    except ValueError as error:
        raise GraphQLError(str(error)) from None


def _write_moment(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat() if value.year < 9999 else _FOR_EVER
    return value.isoformat() if isinstance(value, date) else str(value)


@cache
def _resolvers() -> dict[str, Callable[..., Any]]:
    return {**queries.RESOLVERS, **lineage_answers.RESOLVERS, **mutations.RESOLVERS}


def _resolve(source: Any, info: GraphQLResolveInfo[Any], /, **arguments: Any) -> Any:
    """A key of an answer; functions get the asker and the arguments."""
    value = source.get(info.field_name) if isinstance(source, dict) else None
    if not callable(value):
        return value
    return value(info.context, **{_snake(name): given for name, given in arguments.items()})


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda letter: f"_{letter[1].lower()}", name)

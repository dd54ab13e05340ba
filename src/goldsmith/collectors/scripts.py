"""Write scripts that collect and push without Goldsmith, for a warehouse and its settings.

The scripts contain the queries and functions of the warehouse's own file, so both collect alike.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from string import Template

from goldsmith.assets.items import Flow
from goldsmith.collectors.collect import check_given, kind_of
from goldsmith.collectors.collector import WAREHOUSES, Collector, SqlTexts
from goldsmith.collectors.patterns import TablePatterns
from goldsmith.errors import BadRequest

_EVENTS = {
    Flow.METADATA: (
        "RelationalAsset",
        '''def event(item: dict[str, Any]) -> RelationalAsset:
    """An item of the manifest as the client takes it."""
    return RelationalAsset.from_dict(item)''',
    ),
    Flow.LINEAGE: (
        "LineageEvent",
        '''def event(item: dict[str, Any]) -> LineageEvent:
    """An edge of the manifest as the client takes it."""
    return LineageEvent.from_dict(item)''',
    ),
    Flow.QUERY_LOGS: (
        "QueryLogEntry",
        '''def event(item: dict[str, Any]) -> QueryLogEntry:
    """An entry of the manifest as the client takes it."""
    times = {
        name: datetime.fromisoformat(item[name].replace("Z", "+00:00"))
        for name in ("start_time", "end_time")
    }
    return QueryLogEntry(**{**item, **times})''',
    ),
}
_METHODS = {
    Flow.METADATA: "send_metadata",
    Flow.LINEAGE: "send_lineage",
    Flow.QUERY_LOGS: "send_query_logs",
}


@dataclass(frozen=True, kw_only=True)
class ScriptRequest:
    """The warehouse and settings that scripts are written for."""

    warehouse: str
    flow: Flow
    settings: Mapping[str, str]
    patterns: TablePatterns
    only_volume: bool
    look_back: timedelta
    limit: int
    #: The command that was called, for the head of the scripts.
    command: str


def scripts(request: ScriptRequest) -> dict[str, str]:
    """The scripts by file name; raises FlowNotCollected or BadConnectionSetting."""
    collector = WAREHOUSES.get(request.warehouse)
    kind = kind_of(collector, request.warehouse, request.flow)
    check_given(request.warehouse, collector, request.settings)
    flow = request.flow.value
    collect = "collect_metadata.collect(\n        collect_metadata.ONLY_FRESHNESS_AND_VOLUME or "
    collect += '"--only-freshness-and-volume" in sys.argv[1:]\n    )'
    both = _template("collect_and_push").substitute(
        flow=flow,
        warehouse=request.warehouse,
        command=request.command,
        collect=collect if request.flow is Flow.METADATA else f"collect_{flow}.collect()",
    )
    if request.flow is not Flow.METADATA:
        both = both.replace("import sys\n\n", "")
    return {
        f"collect_{flow}.py": _collecting(request, collector, kind),
        f"push_{flow}.py": _pushing(request),
        f"collect_and_push_{flow}.py": both,
    }


def write_scripts(request: ScriptRequest, folder: Path, *, overwrite: bool) -> list[Path]:
    """Write the scripts into a folder; files that are there already are not overwritten."""
    found = scripts(request)
    there = [name for name in found if (folder / name).exists()]
    if there and not overwrite:
        raise BadRequest(
            sentence=f"{folder / there[0]} exists already.",
            advice="Choose another folder with --output, or --overwrite it.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in found.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in found]


def _collecting(request: ScriptRequest, collector: Collector, kind: str) -> str:
    secrets = {
        setting.name: request.settings[setting.name]
        if setting.name in request.settings
        else f"env:{request.warehouse}_{setting.name}".upper()
        for setting in collector.settings
        if setting.secret and (setting.required or setting.name in request.settings)
    }
    if unfit := [name for name, text in secrets.items() if text.startswith("aws-secret:")]:
        raise BadRequest(
            sentence=f"A script cannot read '{unfit[0]}' from AWS Secrets Manager.",
            advice="Give it as env:NAME or file:PATH.",
        )
    plain = {
        setting.name: request.settings.get(setting.name, setting.default)
        for setting in collector.settings
        if not setting.secret
    }
    constants: dict[str, object] = {
        "CONNECTION": {name: value for name, value in plain.items() if value is not None},
        "SECRETS": secrets,
        "INCLUDE": list(request.patterns.include),
        "EXCLUDE": list(request.patterns.exclude),
        "FLOW": request.flow.value,
        "TYPE_KEY": request.flow.type_key,
        "TYPE": kind,
        "OUTPUT": f"{request.flow.value}_output.json",
    }
    if request.flow is Flow.METADATA:
        constants["ONLY_FRESHNESS_AND_VOLUME"] = request.only_volume
    else:
        constants["LOOK_BACK_HOURS"] = request.look_back.total_seconds() / 3600
        constants["LAG_HOURS"] = 1 if collector.upper_case else 0
        constants["LIMIT"] = request.limit
    if request.flow is Flow.LINEAGE:
        constants["DIALECT"] = collector.dialect if collector.dialect != "ansi" else ""
    packages = list(collector.packages)
    if request.flow is Flow.LINEAGE:
        packages.append("sqlglot")
    variables = ["MCD_RESOURCE_UUID"]
    variables += [text.partition(":")[2] for text in secrets.values() if text.startswith("env:")]
    texts = {name: f"{name} = {value!r}\n" for name, value in constants.items()}
    head = _template("head").substitute(
        title=f"Collect the {request.flow.value} of {request.warehouse} "
        f"into {request.flow.value}_output.json.",
        packages=" ".join(repr(name) if "[" in name else name for name in packages),
        variables=", ".join(variables),
        command=request.command,
        constants="".join(texts.values()),
    )
    hint = "" if collector.logs_hint is None else "print(logs_hint(given))"
    flow = _template(request.flow.value).safe_substitute(logs_hint=hint or "del given[:0]")
    flow = flow.replace("    del given[:0]\n", "")
    return head + "\n\n\n".join([*_reading(collector, request.flow), flow.strip()]) + "\n"


def _reading(collector: Collector, flow: Flow) -> Iterable[str]:
    """The functions of the warehouse's file, and those that read by its queries."""
    functions = collector.functions
    own = dict(_definitions(collector))
    texts = collector.sql
    yield from (text for name, text in own.items() if name not in ("schemas", "tables", "queries"))
    if texts is not None:
        yield _sql_constants(texts, flow, functions_read_tables=functions.tables is not None)
        yield _template("sql").template.strip()
    if flow is not Flow.QUERY_LOGS:
        if functions.tables is not None:
            yield own["schemas"]
            yield own["tables"]
        else:
            yield _template("sql_tables").template.strip()
    if flow is not Flow.METADATA:
        if functions.queries is not None:
            yield own["queries"]
        elif texts is not None and texts.queries:
            yield _template("sql_queries").template.strip()
        else:
            yield _nothing("queries", "start: datetime, end: datetime, limit: int")
    if flow is Flow.LINEAGE:
        if texts is not None and texts.edges:
            yield (
                "def native_edges(\n    connection: Any, start: datetime, end: datetime\n"
                ") -> Iterator[dict[str, Any]]:\n"
                '    """The edges that the warehouse records itself."""\n'
                "    yield from rows(connection, EDGES, start=start, end=end, limit=LIMIT)"
            )
        else:
            yield _nothing("native_edges", "start: datetime, end: datetime")


def _nothing(name: str, parameters: str) -> str:
    return (
        f"def {name}(connection: Any, {parameters}) -> Iterator[dict[str, Any]]:\n"
        '    """This warehouse records none."""\n'
        "    yield from ()"
    )


def _sql_constants(texts: SqlTexts, flow: Flow, *, functions_read_tables: bool) -> str:
    named = {"QUERIES": texts.queries, "EDGES": texts.edges}
    if not functions_read_tables:
        named |= {
            "DATABASES": texts.databases,
            "SCHEMAS": texts.schemas,
            "TABLES": texts.tables,
            "COLUMNS": texts.columns,
            "VOLUMES": texts.volumes,
            "VIEWS": texts.views,
        }
    lines = [f"MARKER = {texts.marker!r}", f"QUOTE = {texts.quote!r}"]
    lines.append(f"SKIPPED = {texts.skipped_databases!r}")
    lines += [f'{name} = """{text}"""' if text else f'{name} = ""' for name, text in named.items()]

    return "\n".join(lines)


def _definitions(collector: Collector) -> list[tuple[str, str]]:
    """The functions and classes of the warehouse's file, by name."""
    module = sys.modules[collector.connect.__module__]
    source = inspect.getsource(module)
    return [
        (node.name, ast.get_source_segment(source, node) or "")
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


def _pushing(request: ScriptRequest) -> str:
    models, event = _EVENTS[request.flow]
    return _template("push").substitute(
        output=f"{request.flow.value}_output.json",
        models=models,
        event=event,
        items=request.flow.list_key,
        method=_METHODS[request.flow],
        type_key=request.flow.type_key,
        command=request.command,
    )


def _template(name: str) -> Template:
    folder = files("goldsmith.collectors") / "templates"
    return Template((folder / f"{name}.txt").read_text("utf-8"))

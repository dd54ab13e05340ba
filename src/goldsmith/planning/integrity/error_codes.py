"""Error codes that a stage can fail with: names that a healing row may pair a remedy with.

Errors of ours that `healing/codes.toml` does not declare have the name of their class as code.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

#: The codes of `healing/codes.toml`, which this package must not import; a test compares them.
DECLARED = (
    "AccessDenied",
    "BadSchema",
    "BranchBroken",
    "BroadcastTooLarge",
    "CatalogUnreachable",
    "CheckFailed",
    "ClockSkewed",
    "ColumnUnknown",
    "CommitConflict",
    "ContainerKilled",
    "CredentialsExpired",
    "CredentialsMissing",
    "CredentialsWrong",
    "Deadlock",
    "DiskFull",
    "DivideByZero",
    "DriverOutOfMemory",
    "DuplicateColumns",
    "DuplicateMapKey",
    "DuplicateRows",
    "ExecutorLost",
    "ExecutorOutOfMemory",
    "Fenced",
    "FileDoesNotFit",
    "FileTruncated",
    "FileUnreadable",
    "FileVanished",
    "FilesDisagree",
    "FormatUnknown",
    "FunctionUnknown",
    "JobCancelled",
    "KeyMissing",
    "LakeCatalogUnreachable",
    "LeaseLost",
    "LibraryMissing",
    "LoadCancelled",
    "LoadRefused",
    "LockTimeout",
    "NotSupported",
    "NullNotAllowed",
    "PythonWorkerLost",
    "PythonWorkerOutOfMemory",
    "RecordMalformed",
    "ResultTooLarge",
    "SchemaMismatch",
    "SchemaUnreachable",
    "SecretMissing",
    "SecretsUnreachable",
    "SerializationConflict",
    "ShuffleLost",
    "SourceMissing",
    "SourceThrottled",
    "SourceUnreachable",
    "SparkLost",
    "SqlWrong",
    "StageTimeout",
    "StatementTimeout",
    "SubqueryOfManyRows",
    "TableBroken",
    "TableMissing",
    "TableUnknown",
    "TargetBusy",
    "TlsFailed",
    "TooManyConnections",
    "TooManyOpenFiles",
    "TransactionAborted",
    "TypeNotLoadable",
    "TypesDoNotMatch",
    "Unclassified",
    "UserCodeFailed",
    "ValueDoesNotFit",
    "ValueTooLong",
    "WarehouseBusy",
    "WarehouseFull",
    "WarehouseOutOfMemory",
    "WarehouseReadOnly",
    "WarehouseUnreachable",
    "WorkerLost",
)
_CLASS = re.compile(r"^class (\w+)\(", re.MULTILINE)


def is_raised(code: str) -> bool:
    """Whether a stage can fail with this code."""
    return code in DECLARED or code in _classes()


@cache
def _classes() -> frozenset[str]:
    """The names of all classes of this package, read from its files: importing all is slow."""
    package = Path(__file__).parents[2]
    return frozenset(
        name
        for file in package.rglob("*.py")
        for name in _CLASS.findall(file.read_text(encoding="utf-8"))
    )

"""Translate catalog addresses to the addresses that Spark and Iceberg use."""

from __future__ import annotations

from goldsmith.settings.sections import LakeIO
from goldsmith.storage.storage import Storage


def spark_address(storage: Storage, location: str) -> str:
    """A catalog address for Spark's own readers and writers (s3a://)."""
    return _for_hadoop(storage.address(location))


def lake_address(storage: Storage, location: str) -> str:
    """A catalog address as lake tables store it.

    Iceberg's S3FileIO stores `s3://`, which every other engine understands too.
    """
    return kept_address(storage, storage.address(location))


def kept_address(storage: Storage, real: str) -> str:
    """A real location as lake tables store it."""
    return real if storage.settings.lake.io is LakeIO.S3 else _for_hadoop(real)


def _for_hadoop(real: str) -> str:
    return "s3a://" + real.removeprefix("s3://") if real.startswith("s3://") else real

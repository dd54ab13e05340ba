"""Addresses of the catalog as Spark and Iceberg take them."""

from __future__ import annotations

from goldsmith.planning.places import Places
from goldsmith.settings.sections import LakeIO


def spark_address(places: Places, location: str) -> str:
    """An address of the catalog as Spark's own readers and writers take it."""
    return _for_hadoop(places.address(location))


def lake_address(places: Places, location: str) -> str:
    """An address of the catalog as the lake's tables keep it.

    Iceberg's own way to S3 keeps `s3://`, which every other engine understands too.
    """
    return kept_address(places, places.address(location))


def kept_address(places: Places, real: str) -> str:
    """A real place as the lake's tables keep it."""
    return real if places.settings.lake.io is LakeIO.S3 else _for_hadoop(real)


def _for_hadoop(real: str) -> str:
    return "s3a://" + real.removeprefix("s3://") if real.startswith("s3://") else real

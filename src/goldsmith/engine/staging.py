"""The staging place: Parquet written aside for a warehouse, and taken away afterwards."""

from __future__ import annotations

import os
import shutil

from goldsmith.planning.places import Places
from goldsmith.settings.sections import WarehouseSettings


def folder(places: Places, warehouse: WarehouseSettings, stage_run_id: str) -> str:
    """Where a stage run's Parquet lies: a path, or an s3:// address."""
    base = warehouse.staging or places.settings.staging.folder
    return f"{places.address(base).rstrip('/')}/{stage_run_id}"


def for_spark(address: str) -> str:
    return "s3a://" + address.removeprefix("s3://") if address.startswith("s3://") else address


def exists(places: Places, address: str) -> bool:
    """There is something at an address."""
    if not address.startswith("s3://"):
        return os.path.isdir(address)
    bucket, _, prefix = address.removeprefix("s3://").partition("/")
    found = places.s3().list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/", MaxKeys=1)
    return bool(found.get("KeyCount"))


def files(places: Places, address: str) -> list[str]:
    """The Parquet files of a folder."""
    return [file for file, _ in sized(places, address)]


def sized(places: Places, address: str) -> list[tuple[str, int]]:
    """The Parquet files of a folder, with the bytes they have."""
    if not address.startswith("s3://"):
        there = sorted(os.listdir(address)) if os.path.isdir(address) else []
        found = [f"{address}/{name}" for name in there if name.endswith(".parquet")]
        return [(file, os.path.getsize(file)) for file in found]
    bucket, _, prefix = address.removeprefix("s3://").partition("/")
    pages = places.s3().get_paginator("list_objects_v2")
    items = [
        item
        for page in pages.paginate(Bucket=bucket, Prefix=f"{prefix}/")
        for item in page.get("Contents", ())
    ]
    return [
        (f"s3://{bucket}/{item['Key']}", item["Size"])
        for item in items
        if item["Key"].endswith(".parquet")
    ]


def remove(places: Places, address: str) -> None:
    """Take everything at an address away; nothing there is fine too."""
    if not address.startswith("s3://"):
        if os.path.isdir(address):
            shutil.rmtree(address)
        return
    bucket, _, prefix = address.removeprefix("s3://").partition("/")
    client = places.s3()
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
    for page in pages:
        found = [{"Key": item["Key"]} for item in page.get("Contents", ())]
        if found:
            client.delete_objects(Bucket=bucket, Delete={"Objects": found, "Quiet": True})

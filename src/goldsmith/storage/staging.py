"""The staging folder: Parquet files for a warehouse load, removed afterwards."""

from __future__ import annotations

import os
import shutil

from goldsmith.settings.sections import WarehouseSettings
from goldsmith.storage.storage import Storage


def folder(storage: Storage, warehouse: WarehouseSettings, stage_run_id: str) -> str:
    """The staging folder of a stage run: a path or an s3:// address."""
    base = warehouse.staging or storage.settings.staging.folder
    return f"{storage.address(base).rstrip('/')}/{stage_run_id}"


def scratch(storage: Storage, stage_run_id: str) -> str:
    """The folder for copies of rows that a stage run makes for itself."""
    base = storage.address(storage.settings.staging.folder).rstrip("/")
    return f"{base}/{stage_run_id}-looked-at"


def for_spark(address: str) -> str:
    return "s3a://" + address.removeprefix("s3://") if address.startswith("s3://") else address


def exists(storage: Storage, address: str) -> bool:
    """Whether a folder exists at an address."""
    if not address.startswith("s3://"):
        return os.path.isdir(address)
    bucket, _, prefix = address.removeprefix("s3://").partition("/")
    found = storage.s3().list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/", MaxKeys=1)
    return bool(found.get("KeyCount"))


def files(storage: Storage, address: str) -> list[str]:
    """The Parquet files of a folder."""
    return [file for file, _ in sized(storage, address)]


def sized(storage: Storage, address: str) -> list[tuple[str, int]]:
    """The Parquet files of a folder, with their sizes in bytes."""
    if not address.startswith("s3://"):
        there = sorted(os.listdir(address)) if os.path.isdir(address) else []
        found = [f"{address}/{name}" for name in there if name.endswith(".parquet")]
        return [(file, os.path.getsize(file)) for file in found]
    bucket, _, prefix = address.removeprefix("s3://").partition("/")
    pages = storage.s3().get_paginator("list_objects_v2")
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


def remove(storage: Storage, address: str) -> None:
    """Remove everything at an address; it need not exist."""
    if not address.startswith("s3://"):
        if os.path.isdir(address):
            shutil.rmtree(address)
        return
    bucket, _, prefix = address.removeprefix("s3://").partition("/")
    client = storage.s3()
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
    for page in pages:
        found = [{"Key": item["Key"]} for item in page.get("Contents", ())]
        if found:
            client.delete_objects(Bucket=bucket, Delete={"Objects": found, "Quiet": True})

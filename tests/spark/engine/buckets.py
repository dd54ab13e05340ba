"""Buckets for stages on the shared session: said in settings, filled, made known to Spark."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from servers import s3 as s3_server
from spark.engine.test_stages import BRONZE


def on(endpoint: str) -> str:
    return (
        f'[storage]\nendpoint = "{endpoint}"\naccess_key = "env:S3_KEY"\n'
        'secret_key = "env:S3_SECRET"\n[storage.bind]\n"s3://lake/" = "HOME/s3/lake"\n'
    )


def from_bucket(bucket: str) -> str:
    return BRONZE.replace("s3://raw/@/", f"s3://{bucket}/@/")


def bring(s3: s3_server.S3, bucket: str, key: str) -> None:
    client = s3.client()
    client.create_bucket(Bucket=bucket)
    client.put_object(Bucket=bucket, Key=key, Body=b'{"id": 1, "amount": 10}\n')
    client.close()


def configure_bucket(spark: SparkSession, bucket: str, endpoint: str) -> None:
    """Where a bucket is: the shared session began without any S3."""
    conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
    # What was kept of a bucket would still go to where it was before.
    conf.set("fs.s3a.impl.disable.cache", "true")
    for name, value in {
        "endpoint": endpoint,
        "endpoint.region": s3_server.REGION,
        "path.style.access": "true",
        "access.key": s3_server.ACCESS_KEY,
        "secret.key": s3_server.SECRET_KEY,
        "attempts.maximum": "1",
        "retry.limit": "1",
        "retry.interval": "10ms",
    }.items():
        conf.set(f"fs.s3a.bucket.{bucket}.{name}", value)

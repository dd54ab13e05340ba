"""An S3 over HTTP for the tests: moto's server, everything in memory."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ACCESS_KEY, SECRET_KEY, REGION = "tests", "tests-secret", "us-east-1"


@dataclass(frozen=True, kw_only=True)
class S3:
    """A running server and the way to it."""

    endpoint: str

    def client(self) -> Any:
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=Config(s3={"addressing_style": "path"}),
        )

    def file_system(self) -> Any:
        """Arrow's way to it."""
        from pyarrow import fs

        return fs.S3FileSystem(
            endpoint_override=self.endpoint,
            region=REGION,
            access_key=ACCESS_KEY,
            secret_key=SECRET_KEY,
        )


@contextlib.contextmanager
def running(*buckets: str, port: int = 0) -> Iterator[S3]:
    """Start a server on a free port, or on that one, make the buckets, end it."""
    from moto.server import ThreadedMotoServer

    # It writes a line for every request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        s3 = S3(endpoint=f"http://{host}:{port}")
        client = s3.client()
        for bucket in buckets:
            client.create_bucket(Bucket=bucket)
        client.close()
        yield s3
    finally:
        server.stop()

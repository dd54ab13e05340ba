"""Secrets in Secrets Manager, and what `config check` says of AWS; moto stands in for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from goldsmith.cli.config_checks import check_all
from goldsmith.credentials import SecretMissing, SecretsUnreachable, resolve
from goldsmith.runtime import Runtime

REGION = "eu-central-1"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)


@pytest.fixture
def secrets_manager(endpoint: str) -> Any:
    return boto3.client("secretsmanager", region_name=REGION, endpoint_url=endpoint)


def test_a_secret_is_found_by_its_arn(secrets_manager: Any, endpoint: str) -> None:
    arn = secrets_manager.create_secret(Name="plain", SecretString="hunter2")["ARN"]

    # The region is the ARN's: none is set.
    assert resolve(f"aws-secret:{arn}", {}, endpoint=endpoint).reveal() == "hunter2"


def test_a_secret_is_found_by_its_name_in_a_region(secrets_manager: Any, endpoint: str) -> None:
    secrets_manager.create_secret(Name="bytes", SecretBinary=b"hunter3")

    found = resolve("aws-secret:bytes", {}, endpoint=endpoint, region=REGION)
    assert found.reveal() == "hunter3"


def test_one_key_of_a_json_secret_is_found(secrets_manager: Any, endpoint: str) -> None:
    text = json.dumps({"username": "gold", "password": "hunter4", "port": 5439})
    arn = secrets_manager.create_secret(Name="json", SecretString=text)["ARN"]

    def found(key: str) -> str:
        return resolve(f"aws-secret:{arn}#{key}", {}, endpoint=endpoint).reveal()

    assert (found("password"), found("port")) == ("hunter4", "5439")
    with pytest.raises(SecretMissing, match="no 'pasword', only password, port, username"):
        found("pasword")


def test_a_key_of_a_secret_that_is_no_json_is_missing(secrets_manager: Any, endpoint: str) -> None:
    arn = secrets_manager.create_secret(Name="text", SecretString="hunter5")["ARN"]

    with pytest.raises(SecretMissing, match="no JSON object") as caught:
        resolve(f"aws-secret:{arn}#password", {}, endpoint=endpoint)
    assert "hunter5" not in repr(caught.value.__context__)


def test_a_secret_that_is_not_there_says_what_aws_says(endpoint: str) -> None:
    with pytest.raises(SecretMissing, match="ResourceNotFoundException") as caught:
        resolve("aws-secret:nothing", {}, endpoint=endpoint, region=REGION)
    assert not caught.value.transient


def test_a_service_that_does_not_answer_may_answer_later() -> None:
    with pytest.raises(SecretsUnreachable) as caught:
        resolve("aws-secret:x", {}, endpoint="http://127.0.0.1:1", region=REGION)
    assert caught.value.transient


def test_config_check_lists_the_bucket_and_the_glue_catalog(tmp_path: Path, endpoint: str) -> None:
    (tmp_path / "goldsmith.toml").write_text(
        f"""
[storage]
endpoint = "{endpoint}"
access_key = "env:KEY"
secret_key = "env:KEY"
[storage.bind]
"s3://missing/" = "s3://no-such-bucket/"
[staging]
folder = "s3://company/staging/"
[lake]
catalog = "glue"
glue_endpoint = "{endpoint}"
warehouse = "s3://company/lake/"
""",
        encoding="utf-8",
    )
    boto3.client("s3", region_name="us-east-1", endpoint_url=endpoint).create_bucket(
        Bucket="company"
    )
    runtime = Runtime.of({"KEY": "test"}, project=tmp_path, environment=None, cwd=tmp_path)

    found = {result.says: result.ok for result in check_all(runtime)}
    assert found[f"s3://company at {endpoint} can be listed"]
    assert found[f"Glue Data Catalog at {endpoint}"]
    assert [says for says, ok in found.items() if not ok and "NoSuchBucket" in says]

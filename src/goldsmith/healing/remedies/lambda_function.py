"""Invoke an AWS Lambda function by its ARN with the failure, and do what it answers."""

from __future__ import annotations

import json
from importlib import import_module

from goldsmith.credentials import library
from goldsmith.healing.answer import BadAnswer, decision_of
from goldsmith.healing.failure import Decision, Failure
from goldsmith.healing.remedy import Outside, remedy


@remedy
def lambda_function(
    failure: Failure, *, outside: Outside, action: str, seconds: float = 60
) -> Decision | None:
    boto3 = library("boto3", extra="aws")
    botocore = import_module("botocore.exceptions")
    config = import_module("botocore.config").Config(
        connect_timeout=5, read_timeout=seconds, retries={"total_max_attempts": 1}
    )
    region = action.split(":")[3] or outside.region
    try:
        client = boto3.client(
            "lambda", region_name=region, endpoint_url=outside.aws_endpoint, config=config
        )
        answer = client.invoke(
            FunctionName=action, Payload=json.dumps(failure.as_plain(), default=str).encode()
        )
        text = answer["Payload"].read().decode("utf-8", "replace")
        client.close()
    except (botocore.BotoCoreError, botocore.ClientError) as error:
        raise BadAnswer(remedy=action, cause=str(error)) from error
    if answer.get("FunctionError"):
        raise BadAnswer(remedy=action, cause=f"it failed: {outside.secrets.redact(text)[:500]}")
    return decision_of(outside.secrets.redact(text), action)

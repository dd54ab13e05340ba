"""Invoke an AWS Lambda function by its ARN with the failure, and do what it answers.

The setting `lambdas.handlers` may name a Python function or a command to call instead of an ARN.
"""

from __future__ import annotations

import json
from importlib import import_module

from goldsmith.credentials import library
from goldsmith.healing.answer import BadAnswer, decision_of
from goldsmith.healing.failure import Decision, Failure
from goldsmith.healing.remedies.python import python
from goldsmith.healing.remedies.script import script
from goldsmith.healing.remedy import RemedyContext, remedy


@remedy
def lambda_function(
    failure: Failure, *, outside: RemedyContext, action: str, seconds: float = 60
) -> Decision | None:
    if (handler := outside.handlers.get(action)) is not None:
        if handler.startswith("python:"):
            return python.function(failure, outside=outside, action=handler)
        return script.function(failure, outside=outside, action=handler, seconds=seconds)
    boto3 = library("boto3", extra="aws")
    botocore = import_module("botocore.exceptions")
    config = import_module("botocore.config").Config(
        connect_timeout=5, read_timeout=seconds, retries={"total_max_attempts": 1}
    )
    region = action.split(":")[3] or outside.region
    try:
        client = boto3.client(
            "lambda", region_name=region, endpoint_url=outside.lambda_endpoint, config=config
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
    return decision_of(text, action, outside.secrets.redact)

"""The goldsmith.toml that `goldsmith init` writes."""

from __future__ import annotations

import json

TEMPLATE = """\
# The settings of this project. `goldsmith config show` lists every value and where it came from;
# `goldsmith config check` tries every connection. Each can also be set by an environment
# variable, which then wins: catalog.url is $GOLDSMITH_CATALOG__URL.
name = {name}
default_environment = "embedded"

# On a laptop nothing else is needed: the catalog, the data of s3:// addresses, the lake and the
# warehouse lie under .goldsmith/ beside this file. An environment says where it differs:
# `goldsmith --env prod …` or GOLDSMITH_ENV=prod. Secrets are references: env:NAME, file:PATH,
# aws-secret:ARN. The catalog's rows stay the same everywhere.

# [environments.prod.catalog]
# url = "postgresql://goldsmith@catalog.example.com/goldsmith"
# password = "aws-secret:arn:aws:secretsmanager:us-west-2:123456789012:secret:catalog#password"
#
# [environments.prod.storage]
# kind = "s3"
# region = "us-west-2"
#
# [environments.prod.lake]
# catalog = "glue"
# warehouse = "s3://company/lake/"
#
# [environments.prod.staging]
# folder = "s3://company/staging/"
#
# [environments.prod.warehouses.redshift]
# kind = "redshift"
# host = "warehouse.example.us-west-2.redshift.amazonaws.com"
# database = "analytics"
# user = "goldsmith"
# password = "env:REDSHIFT_PASSWORD"
# iam_role = "arn:aws:iam::123456789012:role/redshift-copy"
#
# [environments.prod.spark]
# remote = "sc://spark.example.com:15002"
"""


def quoted(text: str) -> str:
    """A text as a TOML string; JSON's escapes are the same but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

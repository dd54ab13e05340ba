"""Remedies that ask somebody else: what they are given, what they may answer, what stays hidden."""

from __future__ import annotations

import io
import json
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from goldsmith.credentials import Secrets
from goldsmith.healing.answer import BadAnswer, decision_of
from goldsmith.healing.failure import Decision, Do, Failure
from goldsmith.healing.pairs import Pair
from goldsmith.healing.remedy import Outside

FAILURE = Failure(code="DiskFull", message="No room; $(touch x)", pipeline_id="orders")


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    secrets = Secrets({"TOKEN": "very-secret-token", "OTHER": "another-secret"})
    return Outside(secrets=secrets, folder=tmp_path)


def asked(action: str, outside: Outside, **settings: Any) -> Decision | None:
    pair = Pair(
        error_code="DiskFull",
        step_order=1,
        action=action,
        settings=settings,
        max_uses=3,
        success_floor=None,
        enabled=True,
    )
    return pair.remedy(FAILURE, pair.all_settings, outside)


def script(folder: Path, text: str) -> str:
    file = folder / "remedy.py"
    file.write_text("import json, os, sys\nfailure = json.load(sys.stdin)\n" + text)
    return f"{sys.executable} {file}"


def test_a_script_gets_the_failure_and_its_answer_is_the_decision(outside: Outside) -> None:
    command = script(
        outside.folder,
        "print(json.dumps({'because': failure['code'] + failure['stage_id'],"
        " 'after_seconds': 5, 'adjust': {'files_at_once': 2}}))",
    )
    decision = asked(command, outside)
    assert decision is not None
    assert (decision.do, decision.because) == (Do.RERUN, "DiskFullorders-1")
    assert decision.after is not None
    assert (decision.after.total_seconds(), dict(decision.adjust)) == (5, {"files_at_once": 2})


def test_a_script_gets_no_secret_it_was_not_given_and_its_output_is_redacted(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDSMITH_SECRET", "leaked")
    command = script(
        outside.folder,
        "print(json.dumps({'because': os.environ['T'] + ' of ' + ','.join(sorted(os.environ))}))",
    )
    decision = asked(command, outside, environment={"T": "env:TOKEN"})
    assert decision is not None
    assert "very-secret-token" not in decision.because
    names = set(decision.because.rsplit(" ", 1)[-1].split(","))
    assert names <= {"PATH", "HOME", "LANG", "T", "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}


def test_a_script_is_run_without_a_shell(outside: Outside) -> None:
    made = outside.folder / "made"
    command = script(outside.folder, "print(json.dumps({'because': sys.argv[1]}))")
    decision = asked(f"{command} '; touch {made} $(touch {made})'", outside)
    assert decision is not None
    assert decision.because == f"; touch {made} $(touch {made})"
    assert not made.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("print('no JSON')", "it is no JSON", id="no JSON"),
        pytest.param("print('[1]')", "no JSON object", id="no object"),
        pytest.param('print(\'{"do": "explode"}\')', "explode", id="an unknown deed"),
        pytest.param(
            'print(\'{"adjust": {"sql": "DROP"}}\')', "adjust may hold", id="an unknown wish"
        ),
        pytest.param("sys.exit('very-secret-token')", "ended with 1", id="it fails"),
        pytest.param("import time; time.sleep(60)", "longer than 0.5 s", id="it hangs"),
    ],
)
def test_a_script_that_gives_no_decision_says_why(outside: Outside, text: str, why: str) -> None:
    outside.secrets.resolve("env:TOKEN")
    with pytest.raises(BadAnswer, match=why) as raised:
        asked(script(outside.folder, text), outside, seconds=0.5 if "sleep" in text else 20)
    assert "very-secret-token" not in str(raised.value)


def test_a_script_that_is_not_there_says_so(outside: Outside) -> None:
    with pytest.raises(BadAnswer, match="cannot be run"):
        asked("./no/such/script.sh", outside)


def test_nothing_and_null_are_no_answer() -> None:
    assert decision_of("", "x") is None
    assert decision_of("null", "x") is None


class Hook(BaseHTTPRequestHandler):
    """Answers with a decision that tells what it was sent."""

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = {"do": "hold", "because": f"{sent['code']} {self.headers['X-Token']}"}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None: ...


@pytest.fixture
def hook() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_webhook_gets_the_failure_and_its_answer_is_the_decision(
    outside: Outside, hook: str
) -> None:
    decision = asked(hook, outside, headers={"X-Token": "env:TOKEN"})
    assert decision is not None
    assert decision.do is Do.HOLD
    assert decision.because.startswith("DiskFull ")
    assert "very-secret-token" not in decision.because


def test_a_webhook_that_does_not_answer_says_so(outside: Outside) -> None:
    with pytest.raises(BadAnswer, match="does not answer"):
        asked("http://127.0.0.1:9/", outside)


def decide(failure: Failure) -> Decision:
    """What test_a_python_function_is_called calls."""
    return Decision(do=Do.HOLD, because=f"python saw {failure.code}")


def test_a_python_function_is_called(outside: Outside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_remedies", sys.modules[__name__])
    decision = asked("python:my_remedies:decide", outside)
    assert decision is not None
    assert decision.because == "python saw DiskFull"
    with pytest.raises(BadAnswer, match="no Decision"):
        asked("python:builtins:repr", outside)
    with pytest.raises(BadAnswer, match="ModuleNotFoundError"):
        asked("python:no_such_module:x", outside)


@pytest.fixture
def lambda_arn(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A function of moto that answers without running anything."""
    from moto import mock_aws

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "tests")
    mocked = mock_aws(config={"lambda": {"use_docker": False}})
    # What moto holds is the whole process's: a server of another test keeps its buckets there.
    mocked.start(reset=False)
    try:
        import boto3

        role = boto3.client("iam", region_name="us-east-1").create_role(
            RoleName="r", AssumeRolePolicyDocument="{}"
        )
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as file:
            file.writestr("f.py", "def handler(event, context): return None\n")
        made = boto3.client("lambda", region_name="us-east-1").create_function(
            FunctionName="mend",
            Runtime="python3.11",
            Role=role["Role"]["Arn"],
            Handler="f.handler",
            Code={"ZipFile": packed.getvalue()},
        )
        yield made["FunctionArn"]
    finally:
        mocked.stop(remove_data=False)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_lambda_function_is_invoked_by_its_arn(outside: Outside, lambda_arn: str) -> None:
    import requests

    said = json.dumps({"do": "hold", "because": "the function says so"})
    # The simple backend of moto runs nothing: it gives the answers it was told to give.
    requests.post(
        "http://motoapi.amazonaws.com/moto-api/static/lambda-simple/response",
        json={"results": [said], "region": "us-east-1"},
        timeout=5,
    )
    decision = asked(lambda_arn, outside)
    assert decision is not None
    assert (decision.do, decision.because) == (Do.HOLD, "the function says so")

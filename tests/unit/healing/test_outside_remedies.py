"""Remedies that ask somebody else: what they are given, what they may answer, what stays hidden."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from goldsmith import http_client
from goldsmith.credentials import Secrets
from goldsmith.healing.answer import BadAnswer, decision_of
from goldsmith.healing.failure import Decision, DecisionKind, Failure
from goldsmith.healing.pairs import Pair
from goldsmith.healing.remedy import RemedyContext

FAILURE = Failure(code="DiskFull", message="No room; $(touch x)", pipeline_id="orders")


@pytest.fixture
def outside(tmp_path: Path) -> RemedyContext:
    secrets = Secrets({"TOKEN": "very-secret-token", "OTHER": "another-secret"})
    return RemedyContext(secrets=secrets, folder=tmp_path)


def run_remedy(action: str, outside: RemedyContext, **settings: Any) -> Decision | None:
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


def test_a_script_gets_the_failure_and_its_answer_is_the_decision(outside: RemedyContext) -> None:
    command = script(
        outside.folder,
        "print(json.dumps({'because': failure['code'] + failure['stage_id'],"
        " 'after_seconds': 5, 'adjust': {'files_at_once': 2}}))",
    )
    decision = run_remedy(command, outside)
    assert decision is not None
    assert (decision.do, decision.because) == (DecisionKind.RERUN, "DiskFullorders-1")
    assert decision.after is not None
    assert (decision.after.total_seconds(), dict(decision.adjust)) == (5, {"files_at_once": 2})


def test_a_script_gets_no_secret_it_was_not_given_and_its_output_is_redacted(
    outside: RemedyContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDSMITH_SECRET", "leaked")
    command = script(
        outside.folder,
        "print(json.dumps({'because': os.environ['T'] + ' of ' + ','.join(sorted(os.environ))}))",
    )
    decision = run_remedy(command, outside, environment={"T": "env:TOKEN"})
    assert decision is not None
    assert "very-secret-token" not in decision.because
    names = set(decision.because.rsplit(" ", 1)[-1].split(","))
    assert names <= {"PATH", "HOME", "LANG", "T", "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}


def test_a_script_is_run_without_a_shell(outside: RemedyContext) -> None:
    made = outside.folder / "made"
    command = script(outside.folder, "print(json.dumps({'because': sys.argv[1]}))")
    decision = run_remedy(f"{command} '; touch {made} $(touch {made})'", outside)
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
def test_a_script_that_gives_no_decision_says_why(
    outside: RemedyContext, text: str, why: str
) -> None:
    outside.secrets.resolve("env:TOKEN")
    with pytest.raises(BadAnswer, match=why) as raised:
        run_remedy(script(outside.folder, text), outside, seconds=0.5 if "sleep" in text else 20)
    assert "very-secret-token" not in str(raised.value)


def test_a_script_that_is_not_there_says_so(outside: RemedyContext) -> None:
    with pytest.raises(BadAnswer, match="cannot be run"):
        run_remedy("./no/such/script.sh", outside)


def test_nothing_and_null_are_no_answer() -> None:
    assert decision_of("", "x") is None
    assert decision_of("null", "x") is None


class Hook(BaseHTTPRequestHandler):
    """Answers with a decision that tells what it was sent."""

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {"do": "hold", "because": f"{sent['code']} {self.headers['X-Token']}"}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None: ...


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
    outside: RemedyContext, hook: str
) -> None:
    decision = run_remedy(hook, outside, headers={"X-Token": "env:TOKEN"})
    assert decision is not None
    assert decision.do is DecisionKind.HOLD
    assert decision.because.startswith("DiskFull ")
    assert "very-secret-token" not in decision.because


def test_a_webhook_that_does_not_answer_says_so(outside: RemedyContext) -> None:
    with pytest.raises(BadAnswer, match="does not answer"):
        run_remedy("http://127.0.0.1:9/", outside)


class Elsewhere(Hook):
    """Sends whoever asks to `to`, and keeps what reaches it."""

    to = ""
    status = 307
    seen: ClassVar[list[str | None]] = []

    def do_POST(self) -> None:
        if self.path == "/":
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(self.status)
            self.send_header("Location", self.to)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.seen.append(self.headers["Authorization"])
            super().do_POST()

    def do_GET(self) -> None:
        self.seen.append(self.headers["Authorization"])
        self.send_response(200)
        self.end_headers()


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_webhook_that_redirects_to_another_host_gets_none_of_our_headers_there(
    outside: RemedyContext, status: int
) -> None:
    class Here(Elsewhere):
        seen: ClassVar[list[str | None]] = []

    class There(Elsewhere):
        seen: ClassVar[list[str | None]] = []

    with serving(There) as there, serving(Here) as here:
        Here.to, Here.status = f"http://127.0.0.1:{there}/taken", status
        with pytest.raises(BadAnswer, match="redirects to another host"):
            run_remedy(f"http://127.0.0.1:{here}/", outside, headers={"Authorization": "env:TOKEN"})
    assert There.seen == []


def test_a_token_for_a_catalog_is_not_taken_to_another_host_either() -> None:
    class Here(Elsewhere):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", self.to)
            self.end_headers()

    class There(Elsewhere):
        seen: ClassVar[list[str | None]] = []

    with serving(There) as there, serving(Here) as here:
        Here.to = f"http://127.0.0.1:{there}/taken"
        with pytest.raises(OSError, match="another host"):
            http_client.get(f"http://127.0.0.1:{here}/", {"Authorization": "token"}, seconds=5)
    assert There.seen == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_on_the_same_host_is_followed_with_all_that_was_posted(
    outside: RemedyContext, status: int
) -> None:
    class Here(Elsewhere):
        seen: ClassVar[list[str | None]] = []

    with serving(Here) as here:
        Here.to, Here.status = "/again", status
        decision = run_remedy(
            f"http://127.0.0.1:{here}/", outside, headers={"Authorization": "env:TOKEN"}
        )
    assert decision is not None
    assert decision.because.startswith("DiskFull")
    assert Here.seen == ["very-secret-token"]


def test_a_secret_that_json_writes_otherwise_is_hidden_in_an_answer(tmp_path: Path) -> None:
    odd = 'a"very\\secret"token'
    outside = RemedyContext(secrets=Secrets({"TOKEN": odd}), folder=tmp_path)
    command = script(tmp_path, "print(json.dumps({'because': 'it was ' + os.environ['T']}))")
    decision = run_remedy(command, outside, environment={"T": "env:TOKEN"})
    assert decision is not None
    assert decision.because == "it was •••"


def decide(failure: Failure) -> Decision:
    """What test_a_python_function_is_called calls."""
    return Decision(do=DecisionKind.HOLD, because=f"python saw {failure.code}")


def test_a_python_function_is_called(
    outside: RemedyContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "my_remedies", sys.modules[__name__])
    decision = run_remedy("python:my_remedies:decide", outside)
    assert decision is not None
    assert decision.because == "python saw DiskFull"
    with pytest.raises(BadAnswer, match="no Decision"):
        run_remedy("python:builtins:repr", outside)
    with pytest.raises(BadAnswer, match="ModuleNotFoundError"):
        run_remedy("python:no_such_module:x", outside)


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
def test_a_lambda_function_is_invoked_by_its_arn(outside: RemedyContext, lambda_arn: str) -> None:
    import requests

    answer = json.dumps({"do": "hold", "because": "the function says so"})
    # The simple backend of moto runs nothing: it gives the answers it was told to give.
    requests.post(
        "http://motoapi.amazonaws.com/moto-api/static/lambda-simple/response",
        json={"results": [answer], "region": "us-east-1"},
        timeout=5,
    )
    decision = run_remedy(lambda_arn, outside)
    assert decision is not None
    assert (decision.do, decision.because) == (DecisionKind.HOLD, "the function says so")


def test_a_handler_stands_for_a_lambda_function(outside: RemedyContext) -> None:
    arn = "arn:aws:lambda:us-west-2:123456789012:function:schema_migration_handler"
    command = script(outside.folder, "print(json.dumps({'because': 'asked ' + failure['code']}))")
    here = replace(outside, handlers={arn: command})

    decision = run_remedy(arn, here)

    assert decision is not None
    assert decision.because == "asked DiskFull"

"""An object that is uploaded again has the content it had, whichever way it was uploaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldsmith.credentials import Secrets
from goldsmith.settings.settings import Settings
from goldsmith.storage.file_content import look_again, same_content, with_checksums
from goldsmith.storage.files import ListedFile, list_files
from goldsmith.storage.storage import Storage
from servers import s3 as s3_server
from servers.s3 import S3

BUCKET = "contents"
MIB = 1 << 20


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    with s3_server.running(BUCKET) as server:
        yield server


@pytest.fixture
def bucket(s3: S3, tmp_path: Path) -> Storage:
    environ = {"S3_KEY": s3_server.ACCESS_KEY, "S3_SECRET": s3_server.SECRET_KEY}
    (tmp_path / "goldsmith.toml").write_text(
        f'[storage]\nendpoint = "{s3.endpoint}"\naccess_key = "env:S3_KEY"\n'
        f'secret_key = "env:S3_SECRET"\n[lake]\nwarehouse = "s3://{BUCKET}/lake"\n'
        f'[staging]\nfolder = "s3://{BUCKET}/staging"\n'
    )
    settings = Settings.load(environ, project=tmp_path, environment=None, cwd=tmp_path)
    return Storage(settings, Secrets(environ))


def upload(storage: Storage, content: bytes, *, part: int | None) -> ListedFile:
    """Put an object at once, or in parts of a size."""
    client, named = storage.s3(), {"Bucket": BUCKET, "Key": "in/a"}
    if part is None:
        client.put_object(Body=content, **named)
    else:
        begun = client.create_multipart_upload(**named)["UploadId"]
        parts = []
        for number, start in enumerate(range(0, len(content), part), 1):
            body = content[start : start + part]
            done = client.upload_part(UploadId=begun, PartNumber=number, Body=body, **named)
            parts.append({"ETag": done["ETag"], "PartNumber": number})
        client.complete_multipart_upload(UploadId=begun, MultipartUpload={"Parts": parts}, **named)
    return next(f for f in list_files(f"s3://{BUCKET}/in", storage) if f.path.endswith("a"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(5 * MIB, 8 * MIB, id="in larger parts"),
        pytest.param(5 * MIB, None, id="at once"),
        pytest.param(None, 5 * MIB, id="in parts"),
    ],
)
def test_an_object_uploaded_again_in_another_way_has_its_content(
    bucket: Storage, first: int | None, second: int | None
) -> None:
    content = bytes(range(256)) * (11 * MIB // 256)
    noted = with_checksums([upload(bucket, content, part=first)], {}, bucket)[0].noted_etag
    again = upload(bucket, content, part=second)
    assert again.etag != noted
    assert same_content([(again, noted)], bucket) == [True]
    other = upload(bucket, content[:-1] + b"x", part=second)
    assert same_content([(other, noted)], bucket) == [False]
    # The object that was listed is not there any more.
    assert same_content([(again, noted)], bucket) == [False]
    assert look_again([other], bucket) == []
    assert look_again([again], bucket) == [again.path]

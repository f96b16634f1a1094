"""Storage of objects for tests: a server on this machine that speaks S3."""

import os
import uuid
from pathlib import Path

import pytest

from coview.shards import remote


def put(folder, url):
    """Copy a folder to storage, by fsspec alone."""
    import fsspec

    filesystem, path = fsspec.core.url_to_fs(url)
    for file in (f for f in Path(folder).rglob("*") if f.is_file()):
        filesystem.pipe_file(f"{path}/{file.relative_to(folder).as_posix()}", file.read_bytes())


@pytest.fixture(scope="module")
def s3():
    """A bucket of a server on this machine."""
    fsspec = pytest.importorskip("fsspec")
    s3fs = pytest.importorskip("s3fs")
    server_of = pytest.importorskip("moto.server")
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    s3fs.S3FileSystem.clear_instance_cache()  # another module may have had another server
    remote._filesystem.cache_clear()
    bucket = f"bucket-{uuid.uuid4().hex}"  # moto keeps what it has from server to server
    fsspec.filesystem("s3").mkdir(bucket)
    yield f"s3://{bucket}"
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    remote._filesystem.cache_clear()
    server.stop()

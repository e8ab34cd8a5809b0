"""Who may talk to a server: certificates, tokens, addresses."""

import shutil
import subprocess

import pytest

import weir.compat.v1 as tf
from weir import errors

openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make certificates with")


def _authority(folder, name):
    """An authority, and a certificate of it for localhost."""
    def run(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}-ca.key", "-out", f"{name}-ca.pem", "-days", "1",
        "-subj", f"/CN={name}")
    run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=localhost")
    (folder / f"{name}.ext").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    run("x509", "-req", "-in", f"{name}.csr", "-CA", f"{name}-ca.pem", "-CAkey", f"{name}-ca.key", "-CAcreateserial", "-days", "1",
        "-extfile", f"{name}.ext", "-out", f"{name}.pem")
    return {"ca_file": str(folder / f"{name}-ca.pem"), "certificate_file": str(folder / f"{name}.pem"),
            "key_file": str(folder / f"{name}.key")}


@openssl
def test_tasks_and_clients_with_certificates_talk_and_others_do_not(tmp_path):
    ours, theirs = _authority(tmp_path, "ours"), _authority(tmp_path, "theirs")
    ps = tf.train.Server({"ps": ["localhost:0"]}, credentials=ours)
    address = ps.target[len("grpc://"):]
    worker = tf.train.Server({"ps": [address], "worker": ["localhost:0"]}, job_name="worker", task_index=0,
                             credentials=dict(ours, token="secret"))
    local = tf.train.Server({"local": ["localhost:0"]}, credentials=dict(ours, token="secret"))
    config = tf.ConfigProto(operation_timeout_in_ms=20000)
    with tf.Graph().as_default():
        x = tf.constant(1.0) + 1
        with tf.Session(ps.target, credentials=ours, config=config) as session:
            assert session.run(x) == 2
        with tf.Session(local.target, credentials=dict(ours, token="secret"), config=config) as session:
            assert session.run(x) == 2
        impatient = tf.ConfigProto(operation_timeout_in_ms=100)
        for credentials in ({}, theirs, {"token": "secret"}):
            with tf.Session(local.target, credentials=credentials, config=impatient) as session:
                with pytest.raises((errors.DeadlineExceededError, errors.UnavailableError)):
                    session.run(x)
        with tf.Session(local.target, credentials=dict(ours, token="wrong"), config=config) as session:
            with pytest.raises(errors.UnauthenticatedError):
                session.run(x)
        with tf.device("/job:ps/task:0"):  # a task shows its certificate to the others
            y = tf.Variable(3.0) + 1
        with tf.Session(worker.target, credentials=dict(ours, token="secret"), config=config) as session:
            session.run(tf.global_variables_initializer())
            assert session.run(y) == 4
    for server in (worker, ps, local):
        server.stop()


def test_credentials_that_are_none_are_refused(tmp_path):
    missing = {"ca_file": str(tmp_path / "a"), "certificate_file": str(tmp_path / "b"), "key_file": str(tmp_path / "c")}
    with pytest.raises(errors.InvalidArgumentError, match="cannot be read"):
        tf.train.Server({"a": ["localhost:0"]}, credentials=missing)
    with pytest.raises(errors.InvalidArgumentError, match="three files"):
        tf.train.Server({"a": ["localhost:0"]}, credentials={"ca_file": str(tmp_path / "a")})


def test_a_server_listens_to_the_network_only_when_told(capfd):
    server = tf.train.Server({"a": ["0.0.0.0:0"]})
    assert "only the loopback is listened at" in capfd.readouterr().err
    server.stop()

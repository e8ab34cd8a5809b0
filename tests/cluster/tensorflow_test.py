#!/usr/bin/env python3
"""tests/cluster/tensorflow_test.py PYTHON: real TensorFlow beside Weir, in one cluster.

PYTHON is an interpreter that has TensorFlow (0.12, 1.x or 2.x; make conformance makes one). Run it with Weir's own:

    PYTHONPATH=python .venv/bin/python tests/cluster/tensorflow_test.py /path/to/tensorflow/bin/python

The same client program runs with TensorFlow's package against servers of Weir's, and clusters whose tasks are of both.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SERVER = """
import sys
import {module} as tf
server = tf.train.Server(eval(sys.argv[1]), job_name=sys.argv[2], task_index=int(sys.argv[3]))
print("up", flush=True)
server.join()
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(python, module, cluster, job, task):
    process = subprocess.Popen([python, "-c", SERVER.format(module=module), repr(cluster), job, str(task)],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout.readline() == "up\n", f"a server of {module} does not start"
    return process


def run(client, kinds, master="worker"):
    """Runs the client against a cluster whose worker and parameter server are of these kinds, (python, module)."""
    cluster = {"worker": [f"127.0.0.1:{free_port()}"], "ps": [f"127.0.0.1:{free_port()}"]}
    tasks = [start(*kind, cluster, job, 0) for kind, job in zip(kinds, cluster)]
    try:
        target = "grpc://" + cluster[master][0]
        done = subprocess.run([client[0], str(HERE / "client.py"), client[1], json.dumps(target)], capture_output=True, text=True,
                              timeout=300)
        print("".join(line + "\n" for line in done.stdout.splitlines() if line.startswith(("ok", "FAIL"))), end="")
        return done.returncode
    finally:
        for task in tasks:
            task.kill()
            task.wait()


def run_workers(program, clients, workers, ps):
    """Runs a program once for each worker, with a server of its own; all must say that they are well."""
    cluster = {"worker": [f"127.0.0.1:{free_port()}" for _ in workers], "ps": [f"127.0.0.1:{free_port()}"]}
    tasks = [start(*kind, cluster, "worker", i) for i, kind in enumerate(workers)] + [start(*ps, cluster, "ps", 0)]
    try:
        running = [subprocess.Popen([python, str(HERE / program), module, json.dumps(cluster), str(i)], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for i, (python, module) in enumerate(clients)]
        failed = 0
        for i, process in enumerate(running):
            try:
                out, err = process.communicate(timeout=180)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = "", "still running after 180 seconds"
            if out.splitlines()[-1:] != ["ok"]:
                failed += 1
                print("FAIL", program, "worker", i, err[-600:].replace("\n", " | "))
        print("ok  " if not failed else "FAIL", program)
        return failed
    finally:
        for task in tasks:
            task.kill()
            task.wait()


def main(tensorflow_python):
    os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")
    old = subprocess.run([tensorflow_python, "-c", "import tensorflow.compat.v1"], stderr=subprocess.DEVNULL, check=False).returncode
    weir, tensorflow = (sys.executable, "weir.compat.v1"), (tensorflow_python, "tensorflow" if old else "tensorflow.compat.v1")
    failed = 0
    for name, client, worker, ps, master in (
            ("TensorFlow's client, Weir's tasks", tensorflow, weir, weir, "worker"),
            ("Weir's client, TensorFlow's tasks", weir, tensorflow, tensorflow, "worker"),
            ("Weir's client, Weir's master, TensorFlow's parameter server", weir, weir, tensorflow, "worker"),
            ("Weir's client, TensorFlow's master, Weir's parameter server", weir, tensorflow, weir, "worker"),
            ("TensorFlow's client, Weir's master, TensorFlow's parameter server", tensorflow, weir, tensorflow, "worker"),
            ("TensorFlow's client, TensorFlow's master, Weir's parameter server", tensorflow, tensorflow, weir, "worker"),
            ("TensorFlow's client, TensorFlow's parameter server as its master, Weir's worker", tensorflow, weir, tensorflow, "ps")):
        print(name)
        failed += run(client, (worker, ps), master) != 0
    for name, program, clients, workers, ps in (
            ("TensorFlow's clients, Weir's tasks", "replicas.py", [tensorflow] * 2, [weir] * 2, weir),
            ("TensorFlow's clients, Weir's workers, TensorFlow's parameter server", "replicas.py", [tensorflow] * 2, [weir] * 2, tensorflow),
            ("Weir's clients, TensorFlow's tasks", "replicas.py", [weir] * 2, [tensorflow] * 2, tensorflow)):
        print(name)
        failed += run_workers(program, clients, workers, ps) != 0
    print("all well" if not failed else f"{failed} of 10 clusters have failures")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))

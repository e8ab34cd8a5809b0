#!/usr/bin/env python3
"""tests/cluster/fuzz_services.py [seconds a method] [seed]: random messages for every method of a server's services, over the
socket that processes of one machine use. The server, a process of its own that takes no files from its clients, must answer the
last call as it did the first. Prints how many calls of each method it took.

    PYTHONPATH=python .venv/bin/python tests/cluster/fuzz_services.py 60

Messages are made of fields that a message of the services could have: numbers, names and handles that mean something to the
server and others that mean nothing, graphs, tensors, and any of these cut short or with bytes changed.
"""

import random
import socket
import struct
import subprocess
import sys
import time

import weir.compat.v1 as tf

SERVER = """
import weir.compat.v1 as tf
server = tf.train.Server({"local": ["localhost:0"]}, job_name="local", task_index=0, untrusted_clients=True, max_sessions=8)
print(server.target, flush=True)
server.join()
"""
MASTER = ["CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "ListDevices", "MakeCallable", "RunCallable", "ReleaseCallable"]
LAST = ["CloseSession", "Reset"]
WORKER = ["GetStatus", "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph", "DeregisterGraph", "RunGraph", "CleanupGraph",
          "CleanupAll", "RecvTensor", "Logging", "Tracing", "MarkRecvFinished"]
HEAD = struct.Struct("<IiIIQq")  # src/distributed/near/frame.h
MAGIC = 0x574E310A
TIMEOUT_US = 50_000
JOIN = "/weir.Collectives/Join"


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


class Messages:
    def __init__(self, seed):
        self.random = random.Random(seed)
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [2], name="x")
            v = tf.Variable([1.0, 2.0], name="v")
            tf.assign_add(v, x, name="add")
            tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], name="loop")
            tf.global_variables_initializer()
        self.graph = graph.as_graph_def().SerializeToString()
        self.tensor = tf.make_tensor_proto([1.0, 2.0]).SerializeToString()
        key = b"/job:local/replica:0/task:0/device:CPU:0"
        self.texts = [b"", b"x", b"x:0", b"add", b"add:0", b"v:0", b"init", b"loop", b"\xff", key, b"/job:local", b"a" * 3000,
                      key + b";0000000000000001;" + key + b";x:0;0:0", b"0000000000000001"]
        self.handles = []

    def value(self, depth):
        kind = self.random.random()
        if kind < 0.35:
            return self.random.choice(self.texts + self.handles[:8] + self.handles[-8:])
        if kind < 0.45:
            return self.graph
        if kind < 0.6:
            return self.tensor
        if kind < 0.65:
            return self.random.randbytes(self.random.randrange(40))
        return self.fields(depth + 1) if depth < 4 else b""

    def fields(self, depth):
        parts = []
        for _ in range(self.random.randrange(7)):
            number = self.random.choice([1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 100])
            if self.random.random() < 0.3:
                parts.append(varint(number << 3) + varint(self.random.choice([0, 1, 2, 3, 127, 1 << 31, -1, self.random.getrandbits(63)])))
            else:
                parts.append(field(number, self.value(depth)))
        return b"".join(parts)

    def group_call(self):
        """A member's call of a collective operation, mostly as it should be."""
        choose = self.random.choice
        node = tf.NodeDef(name=choose("ab"), op=choose(["CollectiveReduce"] * 4 + ["CollectiveGather", "CollectiveBcastSend", "CollectiveBcastRecv", "NoOp"]),
                          device=choose(["/job:local/replica:0/task:0/device:CPU:0", "/job:local/task:0/cpu:1", "", "x" * 300]))
        for name in ("group_size", "group_key", "instance_key", "id", "incarnation"):
            node.attr[name].i = choose([1, 1, 1, 2, 0, -1, 1 << 62])
        node.attr["T"].type = choose([1, 1, 3, 7, 20, 99])
        for _ in range(self.random.randrange(3)):
            node.attr["shape"].shape.dim.add(size=choose([2, 3, -1, 1 << 62]))
        node.attr["merge_op"].s, node.attr["final_op"].s = choose([b"Add", b"Mul", b"\xff"]), choose([b"Id", b"Div"])
        if self.random.random() < 0.2:
            del node.attr[choose(list(node.attr))]
        return node.SerializeToString()

    def message(self):
        text = bytearray(self.group_call() if self.random.random() < 0.2 else self.fields(0))
        for _ in range(self.random.choice([0, 0, 0, 1, 4]) if text else 0):
            text[self.random.randrange(len(text))] = self.random.randrange(256)
        if self.random.random() < 0.1:
            del text[self.random.randrange(len(text) + 1):]
        return bytes(text)


class Caller:
    def __init__(self, name):
        self.name, self.socket = name, None

    def call(self, method, body):
        """The answer's code and body. A member of a group that waits for others gives up after a while, and hangs up."""
        if not self.socket:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect("\0" + self.name)
        waits = method == JOIN
        self.socket.settimeout(0.05 if waits else 20)
        self.socket.sendall(HEAD.pack(MAGIC, 0, len(method), 0, len(body), TIMEOUT_US) + method.encode() + body)
        try:
            _, code, first, second, size, _ = HEAD.unpack(self.read(HEAD.size))
        except TimeoutError:
            if not waits:
                raise
            self.socket.close()
            self.socket = None
            return 1, b""
        self.read(first + second)
        return code, self.read(size)

    def read(self, size):
        got = b""
        while len(got) < size:
            part = self.socket.recv(size - len(got))
            if not part:
                raise ConnectionError("the server has hung up")
            got += part
        return got


def near_name(process):
    """What the server listens at, which the system lists."""
    with open("/proc/net/unix") as file:
        return next(line.split("@")[1].strip() for line in file if f"@weir-{process.pid}-" in line)


def main(seconds, seed):
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    target = process.stdout.readline().strip()
    messages, caller = Messages(seed), Caller(near_name(process))
    try:
        services = {"MasterService": MASTER, "WorkerService": WORKER}
        all_methods = [(service, method) for service in services for method in services[service]]
        methods = [f"/tensorflow.{s}/{m}" for s, m in all_methods + [("MasterService", m) for m in LAST]]
        for method in [JOIN] + methods:
            calls, well, end = 0, 0, time.time() + seconds
            while time.time() < end:
                code, answer = caller.call(method, messages.message())
                calls += 1
                well += code == 0
                if code == 0 and method.endswith(("CreateSession", "RegisterGraph")) and len(answer) > 2:
                    messages.handles.append(answer[2:2 + answer[1]])
            print(f"{method}: {calls} calls, {well} of which it took", flush=True)
        tf.Session.reset(target)
        with tf.Session(target) as session:
            assert session.run(tf.constant(1.0) + 1) == 2
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    print("well")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0, int(sys.argv[2]) if len(sys.argv) > 2 else 1)

#!/usr/bin/env python3
"""tests/cluster/network.py [runs] [first seed]: training whose tasks are processes in two network namespaces, made for this and
gone with it. In each run something happens that follows from its seed: tasks are killed (kill -9) and started again, stopped
(SIGSTOP) and continued, the link between the namespaces is cut or slow. Training must end, no update may be lost or applied
twice beyond what a checkpoint loses, and the global step must not go back further than one checkpoint. In every second run all
tasks are in one namespace, and call each other over the machine's own sockets; nothing happens to the link then. Needs root.

    PYTHONPATH=python .venv/bin/python tests/cluster/network.py 20
"""

import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import weir as tf

STEPS, INTERVAL, WORKERS = 250, 20, 2
CHIEF = ("worker", 0)
STARTED = "started\n"
SECONDS = 300  # a run without a step, or a new task, for so long hangs: a lost link is noticed after 20 s

# w follows the global step: w == -step / 2 at every moment that is consistent.
PROGRAM = """
import sys, time
import tensorflow as tf
tf.logging.set_verbosity(tf.logging.INFO)
job, task, ps, workers, folder = sys.argv[1:6]
task = int(task)
cluster = tf.train.ClusterSpec({"ps": ps.split(","), "worker": workers.split(",")})
server = tf.train.Server(cluster, job_name=job, task_index=task, listen_to_network=True)
if job == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % task, cluster=cluster)):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
    train = tf.train.GradientDescentOptimizer(0.5, use_locking=True).minimize(tf.reduce_sum(w), global_step=step)
config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % task], operation_timeout_in_ms=150000)
hooks = [tf.train.StopAtStepHook(last_step=STEPS)]
with tf.train.MonitoredTrainingSession(server.target, task == 0, folder, hooks=hooks, config=config, save_checkpoint_secs=None,
                                       save_checkpoint_steps=INTERVAL) as session:
    while not session.should_stop():
        print("step", session.run([train, step])[1], flush=True)
        time.sleep(0.01)
print("ended", flush=True)
""".replace("STEPS", str(STEPS)).replace("INTERVAL", str(INTERVAL))


def command(*words):
    subprocess.run(words, check=True, capture_output=True)


class Namespaces:
    """"servers" with 10.77.0.1 and "workers" with 10.77.0.2, joined by a link."""

    def __enter__(self):
        self.holders = [subprocess.Popen(["unshare", "-n", "sleep", "infinity"]) for _ in range(2)]
        time.sleep(0.3)
        first, second = (str(holder.pid) for holder in self.holders)
        # Made where it belongs: other runs of this file have links of the same names.
        command("ip", "link", "add", "weir0", "netns", first, "type", "veth", "peer", "name", "weir1", "netns", second)
        for i in range(2):
            self.inside(i, "ip", "addr", "add", f"10.77.0.{i + 1}/24", "dev", f"weir{i}")
            self.inside(i, "ip", "link", "set", f"weir{i}", "up")
            self.inside(i, "ip", "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        for holder in self.holders:
            holder.kill()
            holder.wait()

    def wrap(self, which, *words):
        return ["nsenter", "-n", "-t", str(self.holders[which].pid), *words]

    def inside(self, which, *words):
        command(*self.wrap(which, *words))


class Run:
    def __init__(self, namespaces, seed, folder):
        self.namespaces, self.random, self.folder = namespaces, random.Random(seed), folder
        (folder / "program.py").write_text(PROGRAM)
        port = 20000 + 10 * (seed % 1000)
        self.is_together = seed % 2 == 1
        self.arguments = [f"10.77.0.{2 if self.is_together else 1}:{port}",
                          ",".join(f"10.77.0.2:{port + 1 + i}" for i in range(WORKERS)), str(folder / "model")]
        self.tasks, self.output, self.is_chief_disturbed = {}, {}, False
        self.names = [("ps", 0)] + [("worker", i) for i in range(WORKERS)]
        for name in self.names:
            self.start(name)

    def start(self, name):
        is_apart = name[0] == "ps" and not self.is_together
        words = self.namespaces.wrap(0 if is_apart else 1, sys.executable, "-m", "weir", str(self.folder / "program.py"), name[0],
                                     str(name[1]), *self.arguments)
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = self.output.setdefault(name, [])
        lines.append((time.time(), STARTED))
        read = iter(process.stdout.readline, "")
        threading.Thread(target=lambda: lines.extend((time.time(), line) for line in read), daemon=True).start()
        self.tasks[name] = process

    def numbers(self, name, pattern):
        """(when, number) of the lines of a task that match."""
        return [(when, int(m[1])) for when, line in list(self.output[name]) if (m := re.search(pattern, line))]

    def steps(self, name):
        return self.numbers(name, r"^step (\d+)")

    def saved(self, until):
        """The last checkpoint that was whole at that time: a chief that is killed while it saves leaves none."""
        last = begun = 0
        for when, line in list(self.output[CHIEF]):
            if when >= until:
                break
            if match := re.search(r"Saving checkpoints for (\d+)", line):
                begun = int(match[1])
            elif line == STARTED:
                begun = 0
            elif line.startswith("step") and begun:  # the step that saves has ended
                last, begun = begun, 0
        return last

    def disturb(self):
        """Something happens, and passes."""
        kind = self.random.choice(["kill", "stop"] if self.is_together else ["kill", "kill", "stop", "cut", "slow"])
        name = self.random.choice(self.names)
        seconds = self.random.choice([0.2, 1, 4, 30 if self.random.random() < 0.3 else 2])
        self.is_chief_disturbed |= name == CHIEF
        task = self.tasks[name]
        if task.poll() is not None:
            return "nothing"
        if kind == "kill":
            task.kill()
            task.wait()
            time.sleep(min(seconds, 2))
            self.start(name)
        elif kind == "stop":
            task.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            task.send_signal(signal.SIGCONT)
        elif kind == "cut":
            self.namespaces.inside(0, "ip", "link", "set", "weir0", "down")
            time.sleep(seconds)
            self.namespaces.inside(0, "ip", "link", "set", "weir0", "up")
        else:
            self.namespaces.inside(0, "tc", "qdisc", "replace", "dev", "weir0", "root", "tbf", "rate", "200kbit", "burst", "16kbit",
                                   "latency", "2000ms")
            time.sleep(seconds)
            self.namespaces.inside(0, "tc", "qdisc", "del", "dev", "weir0", "root")
        return f"{kind} {name[0]} {name[1]} for {seconds} s"

    def run(self):
        """What went wrong, or nothing; and what happened."""
        happened, workers = [], self.names[1:]
        while all(not self.steps(name) for name in workers) and not self.hangs():
            time.sleep(0.05)
        for _ in range(self.random.randint(1, 3)):
            time.sleep(self.random.random())
            happened.append(self.disturb())
        while any(self.tasks[name].poll() is None for name in workers):
            if self.hangs():
                ended = [f"{job} {task} has ended with {code}" for (job, task), process in self.tasks.items()
                         if (code := process.poll()) is not None]
                return "; ".join(["hangs", *ended]) + self.status(), happened
            time.sleep(0.05)
        return self.check(), happened

    def hangs(self):
        going_on = (when for lines in self.output.values() for when, line in list(lines) if line.startswith((STARTED, "step ")))
        return time.time() - max(going_on) > SECONDS

    def status(self):
        """What the tasks say of themselves: who waits for what."""
        addresses = [self.arguments[0], *self.arguments[1].split(",")]
        words = self.namespaces.wrap(1, sys.executable, "-m", "weir", "cluster", "status", *addresses)
        try:
            return "\n" + subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout
        except subprocess.TimeoutExpired:
            return "\nthe tasks do not say what they wait for"

    def check(self):
        for name in self.names[1:]:
            if self.tasks[name].returncode != 0:
                return f"{name} ended with {self.tasks[name].returncode}"
            steps = self.steps(name)
            for (_, before), (when, after) in zip(steps, steps[1:]):
                if after >= before:
                    continue
                saved = self.saved(when)
                # One interval, and what others do while a checkpoint is written; nobody writes any while the chief is away.
                is_long = before - after > 2 * INTERVAL and not self.is_chief_disturbed
                if is_long or after < saved:
                    return f"{name} went back from step {before} to {after}; {saved} was saved"
        reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(str(self.folder / "model")))
        w, step = reader.get_tensor("w"), reader.get_tensor("global_step")
        # A worker that is killed or cut off between its update and its count leaves one of them.
        if step < STEPS or abs(w[0] + 0.5 * step) > 0.5 * (WORKERS + 3):
            return f"w is {w[0]} at step {step}"
        return None

    def longest_wait(self):
        """Seconds without a step of any worker, between two that there were."""
        times = sorted(when for name in self.names[1:] for when, _ in self.steps(name))
        return max((after - before for before, after in zip(times, times[1:])), default=0)

    def stop(self):
        for process in self.tasks.values():
            process.kill()
            process.wait()


def main(runs, first):
    failed = 0
    with Namespaces() as namespaces:
        for seed in range(first, first + runs):
            folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-network-"))
            run = Run(namespaces, seed, folder)
            begin = time.time()
            try:
                wrong, happened = run.run()
            finally:
                run.stop()
            print(f"seed {seed}: {'; '.join(happened)}: {wrong or 'well'} ({time.time() - begin:.0f} s, at most "
                  f"{run.longest_wait():.0f} without a step)", flush=True)
            if wrong:
                failed += 1
                for name, lines in run.output.items():
                    print(f"--- {name}", *[line[:300] for _, line in lines[-12:]], sep="\n", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{runs} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 8, int(sys.argv[2]) if len(sys.argv) > 2 else 0))

#!/usr/bin/env python3
"""tests/cluster/load.py [clients] [sessions]: sessions made, run and closed by many clients at once, on a server and on a
cluster whose steps are cut. Prints what each server's memory is after every tenth of them; fails when it grows.

    PYTHONPATH=python .venv/bin/python tests/cluster/load.py 32 200
"""

import re
import sys
import threading
import time

import weir.compat.v1 as tf


def resident():
    """Megabytes of this process, which has the servers."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def client(number, target, sessions, failures, ended):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(tf.zeros([1000]), name=f"v{number}")
            x = tf.placeholder(tf.float32, [1000])
            add = tf.assign_add(v, x)
        with tf.device("/job:worker/task:0"):
            total = tf.reduce_sum(add)
        feed = {x: [1.0] * 1000}
        try:
            for made in range(sessions):
                with tf.Session(target) as session:
                    if made == 0:
                        session.run(v.initializer)
                    got = session.run(total, feed)
                    if got != 1000.0 * (made + 1):
                        failures.append(f"client {number}: {got} in session {made}")
                ended.append(number)
        except Exception as error:  # pylint: disable=broad-except
            failures.append(f"client {number}: {error}")


def main(clients, sessions):
    workers, servers = tf.test.create_local_cluster(1, 1)
    failures, ended, memory = [], [], []
    for _ in range(10):
        threads = [threading.Thread(target=client, args=(number, workers[0].target, sessions // 10, failures, ended))
                   for number in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        memory.append(resident())
        print(f"{len(ended)} sessions, {memory[-1]:.0f} MB", flush=True)
    kept = None
    for _ in range(40):  # other tasks are told of a session's end without waiting for them
        kept = [re.findall(r"as a worker: (\d+) sessions, (\d+) parts", task.status())[0] for task in workers + servers]
        if all(count == ("0", "0") for count in kept):
            break
        time.sleep(0.5)
    for task in workers + servers:
        task.stop()
    # The first tenth fills caches and the allocator's arenas.
    growth = memory[-1] - memory[2]
    print(f"sessions and parts that servers still keep: {kept}; grown by {growth:.1f} MB since the third tenth; {len(failures)} failures")
    print(*failures[:5], sep="\n")
    return 1 if failures or any(count != ("0", "0") for count in kept) or growth > 0.1 * memory[2] else 0


if __name__ == "__main__":
    sys.exit(main(*[int(a) for a in sys.argv[1:3]] or [32, 200]))

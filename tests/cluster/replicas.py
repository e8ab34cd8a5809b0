"""replicas.py MODULE CLUSTER WORKER: one of several workers that train together and have one server each.

All train the same two numbers with SyncReplicasOptimizer: in each step the mean of what all make of them.
"""

import importlib
import json
import sys

import numpy as np

tf = importlib.import_module(sys.argv[1])
getattr(tf, "disable_v2_behavior", lambda: None)()
CLUSTER, WORKER = json.loads(sys.argv[2]), int(sys.argv[3])
WORKERS = len(CLUSTER["worker"])
STEPS = 20

with tf.device(tf.train.replica_device_setter(cluster=CLUSTER, worker_device=f"/job:worker/task:{WORKER}")):
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer(), use_resource=False)
    loss = tf.reduce_sum(tf.square(v - [WORKER * 2.0, 4.0]))
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.2), replicas_to_aggregate=WORKERS,
                                               total_num_replicas=WORKERS)
    train = optimizer.minimize(loss, global_step=step)

hooks = [optimizer.make_session_run_hook(WORKER == 0), tf.train.StopAtStepHook(last_step=STEPS)]
config = tf.ConfigProto(operation_timeout_in_ms=60_000)
values = None
with tf.train.MonitoredTrainingSession("grpc://" + CLUSTER["worker"][WORKER], is_chief=WORKER == 0, hooks=hooks,
                                       config=config) as session:
    while not session.should_stop():
        values = session.run([train, v])[1]
np.testing.assert_allclose(values, [WORKERS - 1, 4], atol=0.05)
print("ok", flush=True)

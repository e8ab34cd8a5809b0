"""MNIST with parameter servers: every worker trains the same variables with its own batches.

On one machine, asynchronously and synchronously:

    weir launch --ps 1 --workers 2 examples/python/mnist_replica.py --steps=1000
    weir launch --ps 2 --workers 3 examples/python/mnist_replica.py --steps=1000 --sync_replicas --replicas_to_aggregate=2

Each task finds its place in TF_CONFIG, or is told by flags (--ps_hosts, --worker_hosts, --job_name, --task_index).
"""
import json
import os

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "data/mnist", "where MNIST is, or is put")
flags.DEFINE_string("checkpoint_dir", "", "where the chief saves, and writes summaries; empty: nowhere")
flags.DEFINE_string("ps_hosts", "", "addresses of the parameter servers, with commas between them")
flags.DEFINE_string("worker_hosts", "", "addresses of the workers")
flags.DEFINE_string("job_name", "", "ps or worker")
flags.DEFINE_integer("task_index", 0, "which of them")
flags.DEFINE_integer("steps", 1000, "global steps")
flags.DEFINE_integer("batch_size", 100, "of each worker")
flags.DEFINE_integer("hidden_units", 100, "of the hidden layer")
flags.DEFINE_float("learning_rate", 0.01, "of Adam")
flags.DEFINE_float("save_secs", 600, "how often the chief saves")
flags.DEFINE_boolean("sync_replicas", False, "average the gradients of several workers in each step")
flags.DEFINE_integer("replicas_to_aggregate", 0, "of how many; 0: of all")
FLAGS = flags.FLAGS


def place():
    """(cluster, job, task)"""
    if FLAGS.job_name:
        cluster = {"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")}
        return tf.train.ClusterSpec(cluster), FLAGS.job_name, FLAGS.task_index
    config = json.loads(os.environ["TF_CONFIG"])
    return tf.train.ClusterSpec(config["cluster"]), config["task"]["type"], config["task"]["index"]


def model(images):
    hidden = tf.layers.dense(images, FLAGS.hidden_units, tf.nn.relu, name="hidden")
    return tf.layers.dense(hidden, 10, name="softmax")


def main(_):
    cluster, job, task = place()
    server = tf.train.Server(cluster, job_name=job, task_index=task)
    if job == "ps":
        server.join()
        return
    workers, is_chief = cluster.num_tasks("worker"), task == 0
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True)
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % task, cluster=cluster)):
        step = tf.train.get_or_create_global_step()
        images = tf.placeholder(tf.float32, [None, 784])
        labels = tf.placeholder(tf.float32, [None, 10])
        logits = model(images)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(labels, 1)), tf.float32))
        tf.summary.scalar("loss", loss)
        optimizer = tf.train.AdamOptimizer(FLAGS.learning_rate)
        hooks = [tf.train.StopAtStepHook(last_step=FLAGS.steps)]
        if FLAGS.sync_replicas:
            optimizer = tf.train.SyncReplicasOptimizer(
                optimizer, replicas_to_aggregate=FLAGS.replicas_to_aggregate or workers, total_num_replicas=workers)
            hooks.append(optimizer.make_session_run_hook(is_chief))
        train = optimizer.minimize(loss, global_step=step)
    # A worker needs the servers and itself, and goes on when another worker is gone.
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % task])
    with tf.train.MonitoredTrainingSession(
            master=server.target, is_chief=is_chief, checkpoint_dir=FLAGS.checkpoint_dir or None, hooks=hooks, config=config,
            save_checkpoint_secs=FLAGS.save_secs) as session:
        count = 0
        while not session.should_stop():
            batch = mnist.train.next_batch(FLAGS.batch_size)
            _, at = session.run([train, step], {images: batch[0], labels: batch[1]})
            count += 1
            if count % 100 == 0:
                print("worker %d: local step %d, global step %d" % (task, count, at))
            if is_chief and (at >= FLAGS.steps or session.should_stop()):
                print("accuracy %.4f at step %d" % (session.run_step_fn(
                    lambda step_context: step_context.session.run(
                        accuracy, {images: mnist.test.images, labels: mnist.test.labels})), at))
                break


if __name__ == "__main__":
    tf.app.run()

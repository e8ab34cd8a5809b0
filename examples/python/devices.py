"""Where operations run: device scopes inside each other, functions that choose, and a device that is not there.

    weir run --virtual-gpus 2 devices.py
"""
import tensorflow as tf
from tensorflow.python.client import device_lib

for device in device_lib.list_local_devices():
    print(device.name)

with tf.device("/cpu:0"):
    a = tf.placeholder(tf.float32, [2, 3], name="a")
    b = tf.placeholder(tf.float32, [3, 2], name="b")
with tf.device("/job:localhost/task:0"):
    with tf.device("/gpu:0"):  # adds to what the scope around it says
        c = tf.matmul(a, b, name="c")
    with tf.device("/gpu:1"):
        d = tf.matmul(b, a, name="d")


def by_type(op):
    return "/cpu:0" if op.type == "Max" else "/gpu:1"


with tf.device(by_type):
    e = tf.add(tf.reduce_max(c, name="largest"), tf.reduce_sum(d, name="sum"), name="e")
f = tf.negative(e, name="f")  # goes where there is room: to the first GPU

for tensor in (a, c, d, e.op.inputs[0], e, f):
    print("%s: %s" % (tensor.op.name, tensor.device or "anywhere"))

feeds = {a: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], b: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}
with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:  # which says on stderr what went where
    print("c = %s" % sess.run(c, feeds).tolist())
    print("f = %g" % sess.run(f, feeds))

with tf.device("/gpu:7"):
    g = tf.exp(e * 0.0, name="g")
with tf.Session() as sess:
    try:
        sess.run(g, feeds)
    except tf.errors.InvalidArgumentError as error:
        print("there is no /device:GPU:7: %s" % ("available devices are" in str(error)))
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    print("somewhere else g = %g" % sess.run(g, feeds))

"""Placeholders get their values when the graph is run."""
import tensorflow as tf

a = tf.placeholder(tf.float32, name="a")
b = tf.placeholder(tf.float32, name="b")
total = tf.add(a, b)
product = tf.multiply(a, b)

with tf.Session() as sess:
    print("3 + 4.5 = %g" % sess.run(total, feed_dict={a: 3, b: 4.5}))
    print("[1, 3] + [2, 4] = %s" % sess.run(total, feed_dict={a: [1, 3], b: [2, 4]}).tolist())
    # Several values in one run, in any structure.
    values = sess.run({"sum": total, "product": product}, feed_dict={a: 6, b: 7})
    print("6 + 7 = %g, 6 * 7 = %g" % (values["sum"], values["product"]))
    # Any tensor can be fed, not only placeholders.
    print("with the sum replaced: %g" % sess.run(total * 2, feed_dict={total: 21}))
    try:
        sess.run(total, feed_dict={a: 3})
    except tf.errors.InvalidArgumentError:
        print("b was not fed")

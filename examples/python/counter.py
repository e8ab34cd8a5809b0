"""A variable keeps its value from run to run."""
import tensorflow as tf

state = tf.Variable(0, name="counter")
update = tf.assign(state, tf.add(state, tf.constant(1)))
init = tf.global_variables_initializer()

with tf.Session() as sess:
    try:
        sess.run(state)
    except tf.errors.FailedPreconditionError:
        print("not initialised yet")
    sess.run(init)
    print(sess.run(state))
    for _ in range(3):
        sess.run(update)
        print(sess.run(state))

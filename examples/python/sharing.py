"""Variables that parts of a model share by name, both ways of asking for them, and the mistake that everyone makes."""
import tensorflow as tf


def layer(inputs):
    weights = tf.get_variable("weights", [3, 2], initializer=tf.constant_initializer(0.5))
    return tf.matmul(inputs, weights)


x = tf.constant([[1.0, 2.0, 3.0]])
with tf.variable_scope("net"):
    first = layer(x)
# One way: open the scope with reuse.
with tf.variable_scope("net", reuse=True):
    second = layer(2 * x)
# The other: switch it on inside the scope.
with tf.variable_scope("net") as scope:
    scope.reuse_variables()
    third = layer(3 * x)

print([v.name for v in tf.global_variables()])
print(first.name, second.name, third.name)
try:
    with tf.variable_scope("net"):
        layer(x)
except ValueError as error:
    print("ValueError names the variable: %s" % ("net/weights" in str(error)))
try:
    with tf.variable_scope("other", reuse=True):
        layer(x)
except ValueError as error:
    print("ValueError names the variable: %s" % ("other/weights" in str(error)))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for value in sess.run([first, second, third]):
        print(value.tolist())

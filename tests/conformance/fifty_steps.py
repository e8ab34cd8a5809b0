"""Fifty steps of training with every layer, cell, wrapper, loop, decoder and loss, and fifty batches of every metric.

    fifty_steps.py record FILE       writes down losses, gradients and metrics; made with TensorFlow 1.15.5
    fifty_steps.py compare FILE [TOLERANCE]     runs the same here and says what differs by more, by default 1e-4

Variables begin with fixed numbers, inputs are fixed functions of the step, and what is random has its own seed.
tests/data/fifty_steps.json is the record that python/tests/test_fifty_steps.py compares Weir with.
"""
import json
import os
import sys

import numpy as np
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fifty_steps_cases as cases  # noqa: E402

STEPS = 50


def first_values(shape, name):
    """Numbers of the size that initialisers draw, different for every variable."""
    count = int(np.prod(shape)) if shape else 1
    if name.endswith('period'):
        return np.linspace(3, 9, count).reshape(shape).astype('f')
    fan_in = count // shape[-1] if len(shape) > 1 else 4
    numbers = np.sin(np.arange(count) * 1.7 + len(name)) / np.sqrt(max(fan_in, 1))
    return numbers.reshape(shape).astype('f')


def projections(array):
    """Three numbers that say whether two arrays are the same."""
    flat = np.ravel(array).astype('f8')
    return [flat.sum(), (flat * np.cos(np.arange(flat.size))).sum(), np.abs(flat).max() if flat.size else 0.0]


def described(variables):
    return ['%s %s' % (v.op.name, v.shape.as_list() if v.shape.ndims is not None else '?') for v in variables]


def train(tf, build):
    """{what: numbers} of fifty steps of gradient descent on what a case gives."""
    with tf.Graph().as_default() as graph:
        inputs = cases.Inputs(tf)
        loss = build(inputs)
        variables = tf.trainable_variables()
        optimizer = tf.train.GradientDescentOptimizer(0.05)
        pairs = [(g, v) for g, v in optimizer.compute_gradients(loss, variables) if g is not None] if variables else []
        gradients = [tf.convert_to_tensor(g) for g, _ in pairs]
        updates = graph.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            step = optimizer.apply_gradients(pairs) if pairs else tf.no_op()
        result = {'variables': described(tf.global_variables())}
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            for v in variables:
                v.load(first_values(v.shape.as_list(), v.op.name), session)
            losses = []
            for i in range(STEPS):
                feed = inputs.feed(i)
                if i in (0, STEPS - 1):
                    shown = session.run(gradients, feed)
                    result['gradients at %d' % i] = [n for g in shown for n in projections(g)]
                losses.append(float(session.run([loss, step], feed)[0]))
            result['losses'] = losses
            result['not trained'] = [n for v in tf.global_variables() if v not in variables
                                     for n in projections(session.run(v))]
        return result


def stream(tf, build):
    """{what: numbers} of fifty batches that a metric sees."""
    with tf.Graph().as_default():
        inputs = cases.Inputs(tf)
        value, update = build(inputs)
        result = {'variables': described(tf.local_variables())}
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            numbers = []
            for i in range(STEPS):
                session.run(update, inputs.feed(i))
                numbers += projections(session.run(value))
            result['values'] = numbers
        return result


def evaluate(tf, build):
    """{what: numbers} of fifty runs of what is not trained."""
    with tf.Graph().as_default():
        inputs = cases.Inputs(tf)
        outputs = build(inputs)
        variables = tf.trainable_variables()
        result = {'variables': described(tf.global_variables())}
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            for v in variables:
                v.load(first_values(v.shape.as_list(), v.op.name) * 2, session)
            result['values'] = [n for i in range(STEPS) for output in session.run(outputs, inputs.feed(i))
                                for n in projections(output)]
        return result


RUNS = {'train': train, 'stream': stream, 'evaluate': evaluate}


def names():
    return sorted(cases.CASES)


def run(tf, name):
    kind, build = cases.CASES[name]
    result = RUNS[kind](tf, build)
    if name in cases.OTHER_VARIABLES:
        del result['variables']
    return result


def differences(have, want, tolerance):
    """What of a case differs: a list of texts."""
    found = []
    for what in sorted(set(have) | set(want)):
        ours, theirs = have.get(what), want.get(what)
        if ours is None or theirs is None or len(ours) != len(theirs):
            found.append('%s: %s, not %s' % (what, ours, theirs))
        elif what == 'variables':
            if ours != theirs:
                found.append('%s: %s, not %s' % (what, ours, theirs))
        else:
            ours, theirs = np.array(ours, 'f8'), np.array(theirs, 'f8')
            # Sums over many elements are judged beside the largest of their kind, which is what float32 can promise.
            scale = np.maximum(np.abs(theirs), max(1e-2, np.abs(theirs).max() if theirs.size else 0) * 0.1)
            wrong = ~(np.abs(ours - theirs) <= tolerance * scale) & ~(np.isnan(ours) & np.isnan(theirs))
            if wrong.any():
                i = int(np.argmax(wrong))
                found.append('%s: number %d of %d is %.7g, not %.7g (%d differ)' % (
                    what, i, ours.size, ours[i], theirs[i], wrong.sum()))
    return found


def rounded(result):
    return {what: value if what == 'variables' else [float('%.7g' % n) for n in value] for what, value in result.items()}


def main(mode, path, tolerance=1e-4):
    if mode == 'record':
        with open(path, 'w') as out:
            json.dump({name: rounded(run(tf, name)) for name in names()}, out, separators=(',', ':'), sort_keys=True)
        return 0
    with open(path) as recorded:
        expected = json.load(recorded)
    bad = 0
    for name in names():
        try:
            found = differences(run(tf, name), expected[name], float(tolerance))
        except Exception as error:  # the next case may run
            found = ['%s: %s' % (type(error).__name__, str(error)[:300])]
        bad += bool(found)
        for text in found:
            print('%s: %s' % (name, text))
    print('%d of %d cases differ' % (bad, len(names())))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

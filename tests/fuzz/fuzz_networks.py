"""Trains random networks for three steps and compares: fuzz_networks.py [options]

Every network runs with all of Weir's rewriting and with none, and with --peer PYTHON (an interpreter that has TensorFlow)
on TensorFlow too. The first step's loss and gradients must agree to --tolerance, relative to the largest value of each, and
what comes after to --later, for training multiplies differences. TensorFlow's results vary from run to run: where it is far
from Weir, it runs a few times more, and a difference counts when it is larger than those between its own runs.
Ends with status 1 when networks differ. The same --seed makes the same ones.
"""
import argparse
import os
import pickle
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--seed', type=int, default=1, help='number of the first network')
    parser.add_argument('--count', type=int, default=50, help='of networks')
    parser.add_argument('--seconds', type=float, default=0, help='go on with further networks for so long')
    parser.add_argument('--tolerance', type=float, default=1e-3)
    parser.add_argument('--later', type=float, default=2e-2)
    parser.add_argument('--peer', default='', help='a Python that has TensorFlow')
    parser.add_argument('--show', action='store_true', help='say what each network is made of')
    parser.add_argument('--worker', default='', help=argparse.SUPPRESS)
    return parser.parse_args()


def results_of(tf, number, config):
    """The losses of three steps, the gradients before the first, the variables after the last; and what it was made of."""
    from random_networks import Network
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        network = Network(tf, number)
        session.run(tf.global_variables_initializer())
        losses, gradients = [], None
        for feeds in network.batches():
            if gradients is None:
                gradients = session.run(network.gradients, feeds)
            losses.append(session.run([network.loss, network.train], feeds)[0])
        variables = session.run([v for _, v in network.used])
        return {'gradients': losses[:1] + gradients, 'variables': losses[1:] + variables}, network.kinds


def serve():
    """Answers numbers of networks with their results on TensorFlow."""
    out = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    for line in sys.stdin:
        try:
            answer = results_of(tf, int(line), None)[0]
        except Exception as error:  # noqa: BLE001: shown by the other side
            answer = '%s: %s' % (type(error).__name__, error)
        pickle.dump(answer, out, protocol=4)
        out.flush()


class Peer:
    """A process that runs networks on TensorFlow; another one after a network that has ended it."""

    def __init__(self, python):
        self.python, self.process = python, None

    def results_of(self, number):
        """The results, or what went wrong."""
        if self.process is None:
            self.process = subprocess.Popen([self.python, os.path.abspath(__file__), '--worker', 'tensorflow'],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            self.process.stdin.write(b'%d\n' % number)
            self.process.stdin.flush()
            return pickle.load(self.process.stdout)
        except (EOFError, BrokenPipeError):
            status, self.process = self.process.wait(), None
            return 'ended with status %d' % status


def difference(a, b, options):
    """The largest one of two results, as a multiple of what is allowed, and where; infinite where only one is finite."""
    worst, where = 0.0, ''
    for part, allowed in (('gradients', options.tolerance), ('variables', options.later)):
        least = 1e-6 + 0.05 * max(np.abs(y).max(initial=0) for y in b[part])  # what is zero but for rounding is not compared with zero
        for i, (x, y) in enumerate(zip(a[part], b[part])):
            x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
            if x.shape != y.shape or not np.array_equal(np.isfinite(x), np.isfinite(y)):
                return np.inf, '%s[%d]' % (part, i)
            finite = np.isfinite(x)
            apart = np.abs(x - y)[finite].max(initial=0) / max(least, np.abs(y)[finite].max(initial=0)) / allowed
            if apart > worst:
                worst, where = apart, '%s[%d]' % (part, i)
    return worst, where


def differs(mine, number, peer, options):
    """What is wrong beside the peer, if anything."""
    runs = []
    for _ in range(4):
        runs.append(peer.results_of(number))
        if isinstance(runs[-1], str):
            return ''  # it cannot say
        worst, where = difference(mine, runs[-1], options)
        if worst <= 1:
            return ''
    spread = max(difference(one, other, options)[0] for one in runs for other in runs)
    return '' if worst < 2 * spread else 'differs from TensorFlow by %.2g in %s' % (worst, where)


def main():
    options = parse()
    if options.worker:
        return serve()
    import weir as tf
    plain = tf.ConfigProto(intra_op_parallelism_threads=1)
    plain.graph_options.optimizer_options.opt_level = -1  # L0
    peer = Peer(options.peer) if options.peer else None
    end, number, found = time.monotonic() + options.seconds, options.seed, 0
    while number < options.seed + options.count or time.monotonic() < end:
        fused, kinds = results_of(tf, number, None)
        worst, where = difference(fused, results_of(tf, number, plain)[0], options)
        wrong = 'differs from what was not rewritten by %.2g in %s' % (worst, where) if worst > 1 else ''
        wrong = wrong or peer and differs(fused, number, peer, options)
        if wrong:
            found += 1
            print('%d: %s: %s' % (number, wrong, ' '.join(kinds)), flush=True)
        if options.show:
            print('%d: %s' % (number, ' '.join(kinds)), flush=True)
        number += 1
    print('%d networks, %d differences' % (number - options.seed, found))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())

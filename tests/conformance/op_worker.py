"""Runs the cases that ops.py wrote, on whatever `import tensorflow` gives: op_worker.py CASES RESULTS.

All cases of an operation stand in one graph and run at once; when that fails those of each type do, and at last each
alone, to see which fails.
"""
import os
import sys

import numpy as np
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arrays  # noqa: E402

DIFFERENTIABLE = ('float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128')


def failure(error):
    return 'error', type(error).__name__, str(error).split('\n')[0][:300]


def part_of(graph_def, cases):
    """The nodes of some cases."""
    names = set(case['name'] for case in cases)
    part = tf.GraphDef()
    part.versions.CopyFrom(graph_def.versions)
    part.node.extend(node for node in graph_def.node if node.name.split('/')[0] in names)
    return part


def run_each(session, wanted, feeds):
    """{name: values or failure} for {name: fetches}: together when possible."""
    try:
        return session.run(wanted, {k: v for name in wanted for k, v in feeds[name].items()})
    except Exception:
        pass
    result = {}
    for name, fetches in wanted.items():
        try:
            result[name] = session.run(fetches, feeds[name])
        except Exception as error:
            result[name] = failure(error)
    return result


def weights(value, dtype):
    """What an output's gradient begins with: positive numbers, the same on both sides."""
    numbers = np.random.RandomState(3).uniform(0.5, 1.5, np.shape(value))
    return tf.constant(numbers, dtype) if dtype.name != 'bfloat16' else tf.cast(tf.constant(numbers, tf.float32), dtype)


def gradients_of(graph, case, values):
    """(fetches, failure): a gradient for each input that is differentiated; an empty list where there is none."""
    tensor = graph.get_tensor_by_name
    ys = [(tensor(name), value) for name, value in zip(case['fetches'], values)]
    ys = [(y, value) for y, value in ys if y.dtype.base_dtype.name in DIFFERENTIABLE]
    xs = [tensor(name) for name in case['inputs']]
    if not ys or not xs:
        return None
    found = tf.gradients([y for y, _ in ys], xs, [weights(value, y.dtype.base_dtype) for y, value in ys])
    return [[] if g is None else [g.values, g.indices] if isinstance(g, tf.IndexedSlices) else [g] for g in found]


def dense(parts, shape):
    """The array of a gradient that is fetched in parts."""
    if len(parts) == 2:
        whole = np.zeros(shape, parts[0].dtype)
        np.add.at(whole, np.asarray(parts[1]), parts[0])
        return whole
    return parts[0] if parts else None


def configuration():
    """Operations as they are: no rewriting of the graph, which would take most of the time."""
    config = tf.ConfigProto()
    try:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    except AttributeError:  # Weir's ConfigProto has no such options
        pass
    return config


def run_together(graph_def, cases):
    """{case: results}; raises when one of the cases cannot be imported or run."""
    feeds = {case['name']: {k: arrays.unpack(v) for k, v in case['feeds'].items()} for case in cases}
    with tf.Graph().as_default() as graph, tf.Session(graph=graph, config=CONFIG) as session:
        tf.import_graph_def(graph_def, name='')
        found = session.run({case['name']: list(case['fetches']) for case in cases},
                            {k: v for feed in feeds.values() for k, v in feed.items()})
        wanted, slopes = {}, {}
        for case in cases:
            if not case['gradient']:
                continue
            try:
                fetches = gradients_of(graph, case, found[case['name']])
            except Exception as error:
                slopes[case['name']] = failure(error)
                continue
            if fetches is not None:
                wanted[case['name']] = fetches
        slopes.update(run_each(session, wanted, feeds))
    results = {}
    for case in cases:
        slope = slopes.get(case['name'])
        if slope is not None and not isinstance(slope, tuple):
            shapes = [np.shape(feeds[case['name']][name]) for name in case['inputs']]
            slope = [dense(parts, shape) for parts, shape in zip(slope, shapes)]
            slope = [None if s is None else arrays.pack(s) for s in slope]
        results[case['name']] = {'values': [arrays.pack(v) for v in found[case['name']]], 'gradients': slope}
    return results


CONFIG = configuration()


def run(graph_def, cases):
    try:
        return run_together(part_of(graph_def, cases), cases)
    except Exception as error:
        if len(cases) == 1:
            return {cases[0]['name']: {'values': failure(error), 'gradients': None}}
    results = {}
    types = sorted(set(case['type'] for case in cases))
    groups = [[case for case in cases if case['type'] == t] for t in types] if len(types) > 1 else [[c] for c in cases]
    for group in groups:
        results.update(run(graph_def, group))
    return results


def main(source, target):
    """Appends (operation, results) to `target` for those that have no results there yet."""
    done = set(op for op, _ in arrays.load_all(target))
    for op in arrays.load(source):
        if op['op'] not in done:
            arrays.append(target, (op['op'], run(tf.GraphDef.FromString(op['graph']), op['cases'])))


if __name__ == '__main__':
    main(*sys.argv[1:])

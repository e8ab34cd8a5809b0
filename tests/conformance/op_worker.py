"""Runs the cases that ops.py wrote, on whatever `import tensorflow` gives: op_worker.py CASES RESULTS FOLDER.

All cases of an operation stand in one graph and run at once; when that fails those of each type do, and at last each
alone, to see which fails. A scene runs step by step in one session. Paths of files are relative to the folder.
"""
import importlib
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
    config.operation_timeout_in_ms = 20000
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


def run_scene(graph_def, scene):
    """[for each step: its values, or how it failed], and the gradients of those that are differentiated."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph, config=CONFIG) as session:
        try:
            tf.import_graph_def(graph_def, name='')
        except Exception as error:
            return [failure(error)]
        feeds = {name: arrays.unpack(value) for name, value in scene['feeds'].items()}
        results, fetched = [], {}
        for step in scene['steps']:
            try:
                results.append(run_step(graph, session, step, feeds, fetched))
            except Exception as error:
                results.append(failure(error))
    return results


def run_step(graph, session, step, feeds, fetched):
    feeds = dict(feeds, **{name: fetched[source] for name, source in step['carry'].items()})
    values = session.run(step['fetches'] + step['targets'], feeds)[:len(step['fetches'])]
    # A session gives the handle of a tensor as an object that knows its name.
    fetched.update((name, getattr(value, 'handle', value)) for name, value in zip(step['fetches'], values))
    if not step['compared']:
        return []
    if step['inputs']:
        for parts, name in zip(session.run(gradients_of(graph, step, values), feeds), step['inputs']):
            slope = dense(parts, np.shape(feeds[name]))
            values.append(np.zeros(np.shape(feeds[name]), np.float32) if slope is None else slope)
    return [arrays.pack(value) for value in values]


def main(source, target, folder):
    """Appends (operation, results) to `target` for those that have no results there yet."""
    os.chdir(folder)
    done = set(op for op, _ in arrays.load_all(target))
    for op in arrays.load(source):
        if op['op'] not in done:
            if op.get('module'):
                try:
                    importlib.import_module(op['module'])
                except ImportError:  # elsewhere the operations are always there
                    pass
            graph_def = tf.GraphDef.FromString(op['graph'])
            is_scene = 'steps' in op
            arrays.append(target, (op['op'], run_scene(graph_def, op) if is_scene else run(graph_def, op['cases'])))


if __name__ == '__main__':
    main(*sys.argv[1:])

"""Scenes: small graphs of several operations, and the runs that are made of each in one session.

Operations that hold state, or that pass on what cannot be fetched (queues, tables, data sets, arrays), have no values of
their own to compare. A scene is a function that adds nodes and says what is run, step after step:

    @scene('', 'V2')
    def queues(s, version):
        q = s('FIFOQueue' + version, component_types=['float32'])
        s.run(s('QueueEnqueue' + version, handle=q, components=[s.fed([1.0, 2.0])]))
        s.run(s('QueueDequeue' + version, handle=q, component_types=['float32']))

Each step gives values or an error; both sides must have the same values, or errors of the same class. With arguments, as
here, the decorator makes a scene of each of them. What a scene covers is read from its graph.
"""
import numpy as np

import arrays
import former

SCENES = {}  # name: function of a Scene


def scene(*arguments):
    """A decorator: one scene, or one for each of the arguments, which the function gets."""
    def register(function):
        subject = function.__module__.split('.')[-1]
        for each in arguments or (None,):
            shown = each if isinstance(each, tuple) else (() if each is None else (each,))
            name = ' '.join([subject + '.' + function.__name__] + [str(word) for word in shown if word != ''])
            assert name not in SCENES, name
            SCENES[name] = function if each is None else lambda s, each=each: function(s, each)
        return function
    return register


class Scene(object):
    """The graph of a scene while it is built: s(operation, input=..., attribute=...) adds a node."""

    def __init__(self, tf, raw):
        self.tf, self._raw = tf, raw
        self.feeds, self.steps, self.rewired = {}, [], []

    def __call__(self, op, **arguments):
        return getattr(self._raw, op)(**arguments)

    def fed(self, value, dtype=None):
        """A placeholder that gets this value in every step."""
        value = np.asarray(value, dtype or (np.float32 if np.asarray(value).dtype == np.float64 else None))
        packed = arrays.pack(value)
        placeholder = self.tf.placeholder('string' if packed[0] == 'string' else packed[0], value.shape)
        self.feeds[placeholder.name] = packed
        return placeholder

    def constant(self, value, dtype=None):
        return self.tf.constant(value, dtype and self.tf.as_dtype(dtype))

    def quantized(self, value, dtype):
        return self('Bitcast', input=self.fed(value), type=dtype)

    def after(self, *nodes):
        return self.tf.control_dependencies(list(nodes))

    def function(self, *types):
        """A decorator: a function of tensors of these types as an attribute of a node."""
        from weir.ops.defun import Defun
        return Defun(*types)

    def rewire(self, node, index, tensor):
        """Another input for a node: the edge back that closes a loop, which cannot be there when the node is made."""
        self.rewired.append((node.op.name, index, tensor.name))

    def run(self, *things, **options):
        """A step: tensors are fetched and operations run together. gradient: by which tensors what is fetched is
        differentiated. compared=False: the values are not. carry: {placeholder: a tensor fetched in an earlier step}."""
        fetches, targets = [], []
        for thing in _flat(things):
            if isinstance(thing, self.tf.Operation):
                targets.append(thing.name)
            else:
                fetches.append(self._plain(thing).name)
        self.steps.append({'fetches': fetches, 'targets': targets, 'inputs': [x.name for x in options.get('gradient', ())],
                           'compared': options.get('compared', True),
                           'carry': {p.name: t.name for p, t in options.get('carry', {}).items()}})

    def _plain(self, tensor):
        """In a type that numpy has."""
        tf, name = self.tf, tensor.dtype.base_dtype.name
        if name == 'bfloat16':
            return tf.cast(tensor, tf.float32)
        if name.startswith('q'):
            return self('Bitcast', input=tensor, type=name[1:])
        return tensor

    def graph_def(self):
        graph_def = self.tf.get_default_graph().as_graph_def()
        for node in graph_def.node:
            for name, index, tensor in self.rewired:
                if node.name == name:
                    node.input[index] = tensor[:-2] if tensor.endswith(':0') else tensor
        return graph_def


def _flat(things):
    for thing in things:
        if isinstance(thing, (list, tuple)):
            for each in _flat(thing):
                yield each
        else:
            yield thing


def operations_of(graph_def, steps):
    """What the steps of a graph run: the operations of the nodes that they need and of the functions of the graph."""
    nodes = {node.name: node for node in graph_def.node}
    wanted = [name for step in steps for name in step['fetches'] + step['targets']]
    seen = set()
    while wanted:
        name = wanted.pop().lstrip('^').split(':')[0]
        if name not in seen:
            seen.add(name)
            wanted.extend(nodes[name].input)
    found = set(nodes[name].op for name in seen)
    for function in graph_def.library.function:
        found.update(node.op for node in function.node_def)
    return found


def build(tf, raw, name):
    """A scene as op_worker.py runs it, and its operations. Raises what Weir says against it."""
    with tf.Graph().as_default():
        s = Scene(tf, raw)
        SCENES[name](s)
        graph_def = s.graph_def()
    operations = operations_of(graph_def, s.steps)
    former.set_version(graph_def, operations)
    entry = {'op': 'scene ' + name, 'graph': graph_def.SerializeToString(), 'feeds': s.feeds, 'steps': s.steps}
    return entry, operations

"""Calls every function of the Python package with arguments that it cannot take: fuzz_binding.py [options]

Values of every wrong kind (None, numbers of all sizes, texts that are no UTF-8, objects, lists that hold themselves,
unknown dimensions, tensors, things of another graph) stand in the place of arguments, one or several at a time. An
exception is a good answer. A worker that dies or stops answering is a finding. Ends with status 1 when there are
findings. The same --seed makes the same calls.
"""
import argparse
import inspect
import os
import random
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import warnings

# These end or change the process itself, or wait for what never comes.
LEFT_OUT = re.compile(r'(set_package|run_command|command_names|arrays_of_one_element|app\.run|test\.main|\.test\b|'
                      r'initialize_all|flags|FLAGS|logging|python_io|gfile|contrib\.learn|old_libraries|_weir\.Graph\.__)')
NAMESPACES = ('', 'nn', 'train', 'layers', 'losses', 'metrics', 'image', 'summary', 'contrib.layers', 'nn.rnn_cell',
              'contrib.framework', 'graph_util', 'sparse', 'initializers', 'spectral')


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--names', default='.*', help='a regular expression of names')
    parser.add_argument('--calls', type=int, default=20, help='of each function')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--limit', type=float, default=30, help='seconds that the calls of one function may take')
    parser.add_argument('--memory', type=float, default=3, help='gigabytes of addresses that a worker may have; 0: any')
    parser.add_argument('--worker', action='store_true', help=argparse.SUPPRESS)
    return parser.parse_args()


def values(tf, np):
    """What stands where something else is wanted: name -> function that makes it in the default graph."""
    def holds_itself():
        items = [1.0]
        items.append(items)
        return items

    def tensors_and_itself():
        items = [tf.constant(1.0)]
        items.append(items)
        return items

    def of_another_graph():
        with tf.Graph().as_default():
            return tf.constant([1.0, 2.0])

    class Spiteful(object):
        """Answers what nobody expects."""
        name, dtype, shape, graph, op, value = 7, 8, 9, 10, 11, 12
        _dims = _dimension = _enum = _fields = 13

        def __len__(self):
            return 3

        def __getitem__(self, key):
            raise KeyError(key)

    class Raises(object):
        def __getattr__(self, name):
            raise RuntimeError('no ' + name)

        def __index__(self):
            raise RuntimeError('no number')

        __float__ = __len__ = __iter__ = __bool__ = __str__ = __repr__ = __index__

    made = {
        'None': lambda: None, '0': lambda: 0, '1': lambda: 1, '-1': lambda: -1, '2': lambda: 2, '2.0': lambda: 2.0,
        '0.5': lambda: 0.5, 'nan': lambda: float('nan'), 'inf': lambda: float('inf'), '2**31': lambda: 2**31,
        '2**63': lambda: 2**63, '-2**63': lambda: -2**63, '10**30': lambda: 10**30, 'True': lambda: True,
        'False': lambda: False, 'complex': lambda: 1j, "''": lambda: '', 'text': lambda: 'x', 'path': lambda: '/',
        'surrogate': lambda: '\ud800', 'zero byte': lambda: 'a\0b', 'bytes': lambda: b'\xff\xfe', 'object': object,
        'class': lambda: object, 'function': lambda: lambda *a, **k: None, 'raising function': lambda: Raises().__index__,
        '[]': lambda: [], '()': lambda: (), '[None]': lambda: [None], '[2.0]': lambda: [2.0, 2.0], '[1]': lambda: [1],
        '[2, -1]': lambda: [2, -1], '[text]': lambda: ['x', b'\xff'], 'ragged': lambda: [[1], [2, 3]],
        'pairs': lambda: [(1, 2), (None, None)], 'short pairs': lambda: [()], '{}': lambda: {}, 'dict': lambda: {'x': 1},
        'set': lambda: {1, 2}, 'holds itself': holds_itself, 'tensors and itself': tensors_and_itself,
        'Dimension(None)': lambda: tf.Dimension(None), '[Dimension(None)]': lambda: [tf.Dimension(None)],
        'TensorShape(None)': lambda: tf.TensorShape(None), 'TensorShape': lambda: tf.TensorShape([None, 2]),
        'tensor': lambda: tf.constant([[1.0, 2.0], [3.0, 4.0]]), 'int tensor': lambda: tf.constant([1, 2]),
        'scalar tensor': lambda: tf.constant(1), 'placeholder': lambda: tf.placeholder(tf.float32),
        'string tensor': lambda: tf.constant(['a', 'b']), '[tensor]': lambda: [tf.constant(1.0), tf.constant(2.0)],
        'operation': lambda: tf.no_op(), 'variable': lambda: tf.Variable([1.0, 2.0]), 'another graph': of_another_graph,
        'sparse': lambda: tf.SparseTensor([[0, 0]], [1.0], [2, 2]),
        'slices': lambda: tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0])),
        'no variable': lambda: tf.Variable.__new__(tf.Variable), 'no tensor': lambda: tf.Tensor.__new__(tf.Tensor),
        'no graph': lambda: tf.Graph.__new__(tf.Graph), 'no session': lambda: tf.Session.__new__(tf.Session),
        'graph': tf.Graph, 'session': tf.Session, 'dtype': lambda: tf.float32, 'ref dtype': lambda: tf.float32_ref,
        'array': lambda: np.ones((2, 2), np.float32), 'object array': lambda: np.array([None, object()], object),
        'empty array': lambda: np.zeros((0, 3)), 'record array': lambda: np.zeros(2, [('a', 'i4'), ('b', 'f4')]),
        'spiteful': Spiteful, 'raises': Raises,
    }
    return {name: make for name, make in made.items()}


def functions(tf):
    """{name: (function, number of arguments, has a name in the call)}: of the extension, and the package's own."""
    from weir import _weir
    found = {}
    for name in dir(_weir):
        item = getattr(_weir, name)
        if isinstance(item, type):
            for method in dir(item):
                bound = inspect.getattr_static(item, method, None)
                if type(bound).__name__ == 'nb_method':
                    found['_weir.%s.%s' % (name, method)] = getattr(item, method)
                elif type(bound) is property:
                    found['_weir.%s.%s(get)' % (name, method)] = bound.fget
                    if bound.fset:
                        found['_weir.%s.%s(set)' % (name, method)] = bound.fset
        elif callable(item):
            found['_weir.' + name] = item
    for space in NAMESPACES:
        where = tf
        for part in filter(None, space.split('.')):
            where = getattr(where, part, None)
        for name in dir(where):
            if not name.startswith('_'):
                item = getattr(where, name)
                if callable(item):
                    found['tf.' + '.'.join(filter(None, (space, name)))] = item
    return {name: item for name, item in sorted(found.items()) if not LEFT_OUT.search(name)}


def arity(function):
    """How many arguments the function takes, and which of them must be a graph."""
    signatures = getattr(function, '__nb_signature__', None)
    if signatures:
        text = signatures[0][0]
        inside = text[text.index('(') + 1:text.rindex(') ->')] if '->' in text else ''
        parts = [p for p in re.split(r', (?![^\[]*\])', inside) if p and p != '/' and not p.startswith('*')]
        return len(parts), [i for i, p in enumerate(parts) if 'weir._weir.Graph' in p]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError, NotImplementedError):
        return 3, []
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters), []


def work(options):
    if options.memory:
        limit = int(options.memory * (1 << 30))
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(1), 'w')
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter('ignore')
    import numpy as np
    import weir as tf
    from weir.core import stack

    made, known = values(tf, np), functions(tf)
    names = sorted(made)
    fitting = [n for n in names if n in ('tensor', 'int tensor', 'text', '1', '2', 'variable', '[tensor]', 'None', '[1]',
                                         'array', 'bytes', 'False', '{}', 'dtype', 'function', 'placeholder')]

    def tell(*words):
        out.write(' '.join(words) + '\n')
        out.flush()

    for name in sys.stdin.read().split('\n'):
        if name not in known:
            continue
        count, graphs = arity(known[name])
        for call in range(options.calls):
            draw = random.Random('%s %d %d' % (name, options.seed, call))
            wrong = draw.randrange(max(count, 1))
            chosen = [draw.choice(names if i == wrong or call % 2 else fitting)
                      for i in range(max(count + draw.choice((0, 0, 0, 0, -1)), 0))]
            for i in graphs:
                if i < len(chosen) and draw.random() < 0.9:
                    chosen[i] = 'the graph'
            if name.startswith('_weir.') and name.count('.') == 2 and chosen and draw.random() < 0.9:
                chosen[0] = {'Graph': 'the graph', 'Tensor': 'tensor', 'Operation': 'operation', 'Variable': 'variable',
                             'Session': 'session'}.get(name.split('.')[1], chosen[0])
            tell('begin', name, repr(chosen))
            stack._stacks.graphs.clear()  # calls may enter a graph and never leave it
            tf.reset_default_graph()
            try:
                arguments = [tf.get_default_graph() if c == 'the graph' else made[c]() for c in chosen]
                known[name](*arguments)
                tell('end')
            except SystemError as error:  # what Python says of a function that breaks its rules
                tell('odd', repr(error).replace('\n', ' '))
            except BaseException:
                tell('end')
    os._exit(0)  # what is half made may not end well, and that is the program's fault


def answers(options, names, begun):
    """Yields the findings; puts the functions that were called into `begun`. A worker that died is followed by one that
    goes on behind the function."""
    names = list(names)
    while names:
        with tempfile.TemporaryDirectory(prefix='weir_fuzz') as folder:
            command = [sys.executable, os.path.abspath(__file__), '--worker', '--calls', str(options.calls), '--seed',
                       str(options.seed), '--memory', str(options.memory)]
            with open(os.path.join(folder, 'errors'), 'w+') as errors:
                process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                           cwd=folder, start_new_session=True,
                                           env=dict(os.environ, PYTHONPATH=os.pathsep.join(map(os.path.abspath, sys.path))))
                process.stdin.write('\n'.join(names).encode())
                process.stdin.close()
                last, rest = '', b''
                deadline = time.time() + options.limit + 30
                hung = False
                while True:
                    ready, _, _ = select.select([process.stdout], [], [], max(deadline - time.time(), 0))
                    if not ready:
                        hung = True
                        process.kill()
                        break
                    data = os.read(process.stdout.fileno(), 65536)
                    if not data:
                        break
                    *lines, rest = (rest + data).split(b'\n')
                    for line in lines:
                        kind, _, text = line.decode('utf-8', 'replace').partition(' ')
                        deadline = time.time() + options.limit
                        if kind == 'begin':
                            last = text
                            begun.add(text.split(' ')[0])
                        elif kind == 'odd':
                            yield '%s: %s' % (last, text)
                status = process.wait()
                if status == 0 and not hung:
                    return
                errors.seek(0)
                why = 'no answer' if hung else signal.Signals(-status).name if status < 0 else 'status %d' % status
                yield '%s: %s %s' % (last, why, errors.read()[-600:].strip())
                names = names[names.index(last.split(' ')[0]) + 1:] if last else []


def main():
    options = parse()
    if options.worker:
        return work(options)
    warnings.simplefilter('ignore')
    import weir as tf
    names = [name for name in functions(tf) if re.search(options.names, name)]
    findings, begun = 0, set()
    for finding in answers(options, names, begun):
        findings += 1
        print(finding, flush=True)
    if len(begun) < len(names):
        findings += 1
        print('not called: %s' % ' '.join(sorted(set(names) - begun)[:10]))
    print('%d functions, %d calls of each: %s' % (len(begun), options.calls, '%d findings' % findings if findings else 'ok'))
    sys.exit(1 if findings else 0)


if __name__ == '__main__':
    main()

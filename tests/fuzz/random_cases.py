"""Random calls of one operation: made from its signature or from a right call of it, spoiled here and there, and run.

A case is plain data, so that it can be pickled, shrunk and printed as a program:

  {'op': name, 'inputs': {name: input or [input]}, 'attrs': {name: value}, 'gradient': 0, 1 or 2 times,
   'spoiled': {attribute: value} of the NodeDef, which nothing has checked, 'threads': number}

An input is (how, type, array). `how` says how the value comes to the operation:

  const    a constant of the graph
  shaped   fed, the shape is known when the graph is built
  ranked   fed, only the rank is known
  fed      fed, nothing is known
  ref, resource    a variable; without a value (None) it is never initialised
  list     a list of tensors, the rows of the array; without a value an empty one
"""
import os
import random
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'conformance'))
import op_cases  # noqa: E402

SIGNATURES = os.path.join(os.path.dirname(HERE), 'data', 'ops-1.15.5.tsv')
HOW = ('const', 'shaped', 'ranked', 'fed')
NUMPY = ('float32', 'float64', 'float16', 'int32', 'int64', 'uint8', 'int8', 'int16', 'uint16', 'uint32', 'uint64',
         'complex64', 'complex128', 'bool')
SHORT_NAMES = {'float': 'float32', 'double': 'float64', 'half': 'float16'}
QUANTIZED = {'qint8': 'int8', 'quint8': 'uint8', 'qint32': 'int32', 'qint16': 'int16', 'quint16': 'uint16'}
INTS = (0, 0, 1, 1, -1, 2, 3, 4, 5, 7, -2, -3, 16, 100, 127, 128, 255, 256, 65535, 1 << 20, (1 << 31) - 1, -(1 << 31),
        1 << 31, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-45, 1e-30, 1e30, -1e30, 3.4e38, 1e300, -1e300, 2147483648.0, 9.3e18, -9.3e18,
          float('inf'), -float('inf'), float('nan'))
STRINGS = (b'', b'a', b'hello world', b'%s%n', b'-1', b'9' * 40, b'1e999', b'nan', b'\x00', b'\xff\xfe', b'a,b;;c',
           b'NHWC', b'NCHW', b'SAME', b'VALID', b'EXPLICIT', b'missing/file', b'x' * 300, b'2 3 0,1:1,2', b'Zm9v')
SCALARS = ('index', 'size', 'num_elements', 'axis', 'depth', 'k', 'num_segments', 'max_num_elements', 'condition', 'lr',
           'num_samples', 'minval', 'maxval', 'sample_rate', 'element_shape')
SIZES = (0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 8, 17)
HUGE = (1 << 16, 1 << 31, 1 << 32, 1 << 40, 1 << 57)
NEVER = {
    'PyFunc': 'its function is Python', 'PyFuncStateless': 'its function is Python',
    'If': 'bodies', 'StatelessIf': 'bodies', 'While': 'bodies', 'StatelessWhile': 'bodies', 'PartitionedCall': 'bodies',
    'StatefulPartitionedCall': 'bodies', 'Case': 'bodies',
    **dict.fromkeys(('Switch', 'RefSwitch', 'Merge', 'RefMerge', 'Enter', 'RefEnter', 'Exit', 'RefExit', 'NextIteration',
                     'RefNextIteration', 'LoopCond'), 'dead values cannot be fetched'),
    'RefSelect': 'a list of references',
}


def rows():
    """Right calls of operations that are not compared with TensorFlow's, in the form of op_cases.py."""
    C, K = op_cases.C, op_cases.K
    lists = ('float32', 'int64', 'string')
    one, row = K(1), K([3])

    def of(v, *shape):
        return ('list', v.dtype, v(*shape))

    def text(*words):
        return K(np.array([w.encode() for w in words], object), object)

    def name(word):
        return K(np.array(word.encode(), object), object)

    found = {
        'TensorListReserve': lambda v: [C(row, one, element_dtype=v.dtype)],
        'EmptyTensorList': lambda v: [C(row, one, element_dtype=v.dtype)],
        'TensorListPushBack': lambda v: [C(of(v, 2, 3), v(3))],
        'TensorListPopBack': lambda v: [C(of(v, 2, 3), row, element_dtype=v.dtype)],
        'TensorListLength': lambda v: [C(of(v, 2, 3))],
        'TensorListElementShape': lambda v: [C(of(v, 2, 3), shape_type='int32')],
        'TensorListResize': lambda v: [C(of(v, 2, 3), K(5)), C(of(v, 2, 3), one)],
        'TensorListSetItem': lambda v: [C(of(v, 2, 3), one, v(3))],
        'TensorListGetItem': lambda v: [C(of(v, 2, 3), one, row, element_dtype=v.dtype)],
        'TensorListStack': lambda v: [C(of(v, 2, 3), row, element_dtype=v.dtype)],
        'TensorListFromTensor': lambda v: [C(v(2, 3), row)],
        'TensorListGather': lambda v: [C(of(v, 2, 3), K([1, 0, 1]), row, element_dtype=v.dtype)],
        'TensorListScatter': lambda v: [C(v(2, 3), K([1, 0]), row)],
        'TensorListScatterV2': lambda v: [C(v(2, 3), K([1, 0]), row, K(4))],
        'TensorListScatterIntoExistingList': lambda v: [C(of(v, 4, 3), v(2, 3), K([1, 0]))],
        'TensorListConcat': lambda v: [C(of(v, 2, 3), element_dtype=v.dtype)],
        'TensorListConcatV2': lambda v: [C(of(v, 2, 3), row, K([1, 2], np.int64), element_dtype=v.dtype)],
        'TensorListSplit': lambda v: [C(v(3, 2), K([-1, 2]), K([1, 2], np.int64))],
        'Save': lambda v: [C(name('f'), text('a', 'b'), [v(2), v(3, 2)])],
        'SaveSlices': lambda v: [C(name('f'), text('a', 'b'), text('', '6 2 0,3:-'), [v(2), v(3, 2)])],
        'SaveV2': lambda v: [C(name('g'), text('a', 'b'), text('', '6 2 0,3:-'), [v(2), v(3, 2)])],
        'Restore': lambda v: [C(name('f'), name('a'), dt=v.dtype)],
        'RestoreSlice': lambda v: [C(name('f'), name('b'), name('6 2 0,3:-'), dt=v.dtype)],
        'RestoreV2': lambda v: [C(name('g'), text('a', 'b'), text('', '6 2 1,1:0,2'), dtypes=[v.dtype] * 2)],
        'MergeV2Checkpoints': lambda v: [C(text('g', 'h'), name('merged'))],
        'ReadFile': lambda v: [C(name('f'))],
        'WriteFile': lambda v: [C(name('w'), name('contents'))],
        'MatchingFiles': lambda v: [C(text('*', 'f'))],
        'Assert': lambda v: [C(K(True, bool), [v(2), v(3, 2)])],
        'Print': lambda v: [C(v(2), [v(2), v(3, 2)])],
        'CheckNumerics': lambda v: [C(v(2), message='m')],
        'MergeSummary': lambda v: [C([name(''), name('')])],
    }
    return {op: (make, lists if 'List' in op or 'S' in op or 'R' in op else ('float32',)) for op, make in found.items()}


def split(text, separator):
    return [part.strip() for part in text.split(separator) if part.strip()]


ROWS = rows()


class Signature(object):
    """A line of TensorFlow's own list."""

    def __init__(self, fields):
        self.op = fields[0]
        self.attrs = {}
        for name, kind, allowed in re.findall(r'(\w+):((?:list\()?\w+\)?)(\{[^}]*\})?', re.sub("'[^']*'", '', fields[3])):
            if kind == 'numbertype' or kind == 'realnumbertype':
                kind, allowed = 'type', '{float,double,int32,uint8,int16,int8,int64,half}'
            types = [SHORT_NAMES.get(t, t) for t in split((allowed or '').strip('{}'), ',')]
            self.attrs[name] = (kind, types)
        self.inputs = []  # (name, number attribute or None, type or type attribute, reference?)
        for text in split(fields[1], ';'):
            name, kind = text.split(':', 1)
            ref = kind.startswith('Ref(')
            kind = kind[4:-1] if ref else kind
            number, star, rest = kind.partition('*')
            kind = rest if star else kind
            self.inputs.append((name, number if star else None, SHORT_NAMES.get(kind, kind), ref))


def signatures():
    with open(SIGNATURES) as lines:
        next(lines)  # names of the columns
        rows = [Signature((line.rstrip('\n') + '\t\t\t\t').split('\t')) for line in lines]
    return {row.op: row for row in rows}


class Maker(object):
    """Makes one case; the same seed gives the same case."""

    def __init__(self, signature, seed):
        self.signature, self.random = signature, random.Random('%s %s' % (signature.op, seed))
        self.seed = seed
        self.base = self.shape()

    def make(self):
        r = self.random
        case = {'op': self.signature.op, 'inputs': {}, 'attrs': {}, 'spoiled': {}, 'threads': r.choice((1, 2)),
                'gradient': r.choice((0, 1, 1, 2))}
        if r.random() < 0.25 or not self.right_call(case):
            self.any_call(case)
        for _ in range(r.choice((0, 1, 1, 1, 2, 2, 3))):
            self.spoil(case)
        how = r.choice(HOW + ('', ''))
        case['inputs'] = {name: [self.fed(i, how) for i in item] if isinstance(item, list) else self.fed(item, how)
                          for name, item in case['inputs'].items()}
        return case

    def fed(self, item, how):
        how = how or self.random.choice(HOW)
        return (how if item[0] in HOW else item[0],) + item[1:]

    # Right calls.

    def right_call(self, case):
        names = [i[0] for i in self.signature.inputs]
        row = ROWS.get(self.signature.op) or op_cases.find(self.signature.op, names, list(self.signature.attrs))
        if row is None or isinstance(row, str):
            return False
        make, types = row
        first = [self.signature.attrs[i[2]][1] for i in self.signature.inputs if i[2] in self.signature.attrs][:1]
        if self.signature.inputs and self.signature.inputs[0][2] in NUMPY:
            first = [(self.signature.inputs[0][2],)]
        types = [t for t in types if not first or not first[0] or t in first[0]] or list(types)
        self.random.shuffle(types)
        for dtype in types[:4]:
            try:
                chosen = self.random.choice(list(make(op_cases.Values(dtype, self.random.randrange(1 << 30)))))
            except (TypeError, ValueError, KeyError, IndexError):  # the row is not meant for this type
                continue
            for name, value in zip(names, chosen.inputs):
                case['inputs'][name] = ([self.known(v, dtype, name) for v in value] if isinstance(value, list)
                                        else self.known(value, dtype, name))
            case['attrs'] = dict(chosen.attrs)
            return True
        return False

    def known(self, value, dtype, name):
        kind = 'const'
        if isinstance(value, tuple):  # an input of ROWS
            return value
        if isinstance(value, op_cases.Q):
            return ('const', value.dtype, value.value)
        if isinstance(value, op_cases.V):
            ref = [i[3] for i in self.signature.inputs if i[0] == name]
            kind, value = ('ref' if ref and ref[0] else 'resource'), value.value
        elif isinstance(value, op_cases.K):
            value = value.value
        value = np.asarray(value)
        name = 'string' if value.dtype.kind in 'OSU' else value.dtype.name
        return (kind, 'bfloat16' if dtype == 'bfloat16' and name == 'float32' else name, value)

    # Any calls.

    def any_call(self, case):
        types = {}
        for name, (kind, allowed) in self.signature.attrs.items():
            if kind == 'type':
                types[name] = self.a_type(allowed)
            elif kind == 'list(type)':
                types[name] = [self.a_type(allowed) for _ in range(self.random.choice((0, 1, 1, 2, 3)))]
            elif kind == 'int' and any(i[1] == name for i in self.signature.inputs):
                types[name] = self.random.choice((0, 1, 2, 2, 3))
        self.of_lists = types.get('element_dtype', 'float32')
        if self.of_lists in QUANTIZED or self.of_lists in ('resource', 'variant'):
            self.of_lists = 'float32'
        case['inputs'] = {}
        for name, number, kind, ref in self.signature.inputs:
            dtype = types.get(kind, kind)
            if isinstance(dtype, list):
                case['inputs'][name] = [self.item(name, t, ref) for t in dtype]
            elif number:
                case['inputs'][name] = [self.item(name, dtype, ref) for _ in range(types[number])]
            else:
                case['inputs'][name] = self.item(name, dtype, ref)
        taken = set(i[1] for i in self.signature.inputs) | set(i[2] for i in self.signature.inputs)
        case['attrs'] = {name: types.get(name, None) or self.attr(kind, allowed)
                         for name, (kind, allowed) in self.signature.attrs.items()
                         if name not in taken and (kind == 'type' or self.random.random() < 0.8)}

    def a_type(self, allowed):
        plain = [t for t in allowed if t not in QUANTIZED] or list(allowed)
        if not allowed or self.random.random() < 0.05:
            return self.random.choice(('float32', 'float32', 'int32', 'int64', 'string', 'resource', 'variant') + NUMPY)
        return self.random.choice(('float32' if 'float32' in plain and self.random.random() < 0.5 else None,
                                   None)) or self.random.choice(plain)

    def item(self, name, dtype, ref):
        if ref or dtype == 'resource':
            dtype = 'float32' if dtype == 'resource' else dtype
            value = self.array(dtype, self.a_shape()) if self.random.random() < 0.8 else None
            return ('ref' if ref else 'resource', dtype, value)
        if dtype == 'variant':
            dtype = self.of_lists if self.random.random() < 0.8 else self.random.choice(('float32', 'int32', 'string'))
            return ('list', dtype, self.array(dtype, self.a_shape() or (2,)) if self.random.random() < 0.8 else None)
        integer = dtype in ('int32', 'int64')
        short = dtype == 'string' or name in SCALARS
        shape = self.random.choice(((), (1,), (2,), (3,), (4,))) if integer and self.random.random() < 0.7 else None
        shape = () if short and self.random.random() < 0.7 else shape
        return ('const', dtype, self.array(dtype, self.a_shape() if shape is None else shape))

    def shape(self):
        shape = tuple(self.random.choice(SIZES) for _ in range(self.random.choice((0, 1, 1, 2, 2, 3, 4, 4, 5))))
        return shape if np.prod(shape) < 5000 else shape[:2]

    def a_shape(self):
        if self.random.random() < 0.03:
            return self.huge()
        return self.base if self.random.random() < 0.6 else self.shape()

    def huge(self):
        """Without elements, but not without size."""
        r = self.random
        shape = [0]
        for size in [r.choice(HUGE)] + [r.choice((1, 2, 3) + HUGE) for _ in range(r.choice((0, 0, 1, 2)))]:
            if np.prod([n for n in shape + [size] if n], dtype=object) < 1 << 58:  # numpy's limit
                shape.append(size)
        r.shuffle(shape)
        return tuple(shape)

    def array(self, dtype, shape):
        r = self.random
        dtype = QUANTIZED.get(dtype, dtype)
        count = int(np.prod(shape, dtype=object))
        if dtype == 'string':
            value = np.empty(count, object)
            value[:] = [r.choice(STRINGS) for _ in range(count)]
            return value.reshape(shape)
        numpy_type = np.dtype('float32' if dtype == 'bfloat16' or dtype not in NUMPY else dtype)
        if count == 0:
            return np.zeros(shape, numpy_type)
        wild = r.random() < 0.4
        return np.array([self.number(numpy_type, wild) for _ in range(count)], numpy_type).reshape(shape)

    def number(self, dtype, wild):
        r = self.random
        if dtype.kind == 'b':
            return r.random() < 0.5
        if dtype.kind in 'fc':
            limit = np.finfo(dtype).max
            value = r.choice(FLOATS) if wild else r.uniform(-2, 2)
            value = value if value != value or abs(value) == float('inf') else min(max(value, -float(limit)), float(limit))
            return complex(value, r.uniform(-2, 2)) if dtype.kind == 'c' else value
        limits = np.iinfo(dtype)
        return int(min(max(r.choice(INTS) if wild else r.randrange(-1, 5), limits.min), limits.max))

    def attr(self, kind, allowed):
        r = self.random
        if kind.startswith('list('):
            length = r.choice((0, 1, 2, 3, 4, 4, 4, 5, 8))
            return [self.attr(kind[5:-1], allowed) for _ in range(length)]
        if kind == 'int':
            return r.choice(INTS) if r.random() < 0.5 else r.randrange(-1, 4)
        if kind == 'float':
            return r.choice([f for f in FLOATS if not 1e38 < abs(f) < 1e301])
        if kind == 'bool':
            return r.random() < 0.5
        if kind == 'string':
            return r.choice(allowed) if allowed and r.random() < 0.9 else r.choice(STRINGS)
        if kind == 'type':
            return self.a_type(allowed)
        if kind == 'shape':
            return None if r.random() < 0.2 else [r.choice((None,) + INTS[:10] + HUGE) for _ in range(r.choice(SIZES[:9]))]
        if kind == 'tensor':
            return self.array(r.choice(NUMPY), self.shape())
        return 'no_function'

    # Spoiling.

    def spoil(self, case):
        r = self.random
        places = [(name, None) for name, item in case['inputs'].items() if not isinstance(item, list)]
        places += [(name, i) for name, item in case['inputs'].items() if isinstance(item, list) for i in range(len(item))]
        kind = r.choice(('value', 'value', 'values', 'shape', 'shape', 'rank', 'huge', 'attr', 'attr', 'node', 'list'))
        if kind == 'attr' and self.signature.attrs:
            name = r.choice(list(self.signature.attrs))
            taken = set(i[1] for i in self.signature.inputs) | set(i[2] for i in self.signature.inputs)
            if name not in taken:
                case['attrs'][name] = self.spoiled_attr(case['attrs'].get(name), self.signature.attrs[name])
        elif kind == 'node' and self.signature.attrs:
            name = r.choice(list(self.signature.attrs))
            other = r.choice(list(self.signature.attrs.values()))
            case['spoiled'][name] = None if r.random() < 0.2 else self.attr(*r.choice((other, self.signature.attrs[name])))
        elif kind == 'list':
            lists = [name for name, item in case['inputs'].items() if isinstance(item, list)]
            if lists:
                item = case['inputs'][r.choice(lists)]
                if item and r.random() < 0.5:
                    item.pop(r.randrange(len(item)))
                elif item:
                    item.append(r.choice(item))
        elif places:
            name, at = r.choice(places)
            item = case['inputs'][name] if at is None else case['inputs'][name][at]
            item = (item[0], item[1], self.spoiled_value(item[1], item[2], kind))
            if at is None:
                case['inputs'][name] = item
            else:
                case['inputs'][name][at] = item

    def spoiled_attr(self, value, spec):
        if isinstance(value, list) and value and self.random.random() < 0.7:
            value = list(value)
            value[self.random.randrange(len(value))] = self.attr(spec[0][5:-1] if '(' in spec[0] else spec[0], spec[1])
            return value
        return self.attr(*spec)

    def spoiled_value(self, dtype, value, kind):
        r = self.random
        if value is None:
            return None
        if kind in ('value', 'values'):
            if value.size == 0:
                return value
            value = value.copy()
            flat = value.reshape(-1)
            for i in range(flat.size) if kind == 'values' else [r.randrange(flat.size)]:
                flat[i] = r.choice(STRINGS) if dtype == 'string' else self.number(flat.dtype, True)
            return flat.reshape(value.shape)
        shape = list(value.shape)
        if kind == 'huge':
            shape = self.huge()
        elif kind == 'rank' or not shape:
            if shape and r.random() < 0.5:
                shape.pop(r.randrange(len(shape)))
            else:
                shape.insert(r.randrange(len(shape) + 1), r.choice((1, 1, 2, 0)))
        else:
            at = r.randrange(len(shape))
            shape[at] = r.choice((0, 1, shape[at] + 1, max(shape[at] - 1, 0), 3))
        if not value.size or not np.prod(shape, dtype=object):
            return self.array(dtype, tuple(shape)) if np.prod(shape, dtype=object) < 100000 else value
        return np.resize(value, shape) if np.prod(shape, dtype=object) < 100000 else value


# Running a case.

# What TensorFlow, too, refuses with an error of this class.
REFUSED_AS_INTERNAL = '(JPEG|PNG) encoding failed|Readonly memory region has wrong length'


class Odd(Exception):
    """Neither a result nor a refusal."""


class Runner(object):

    def __init__(self, tf, raw):
        self.tf, self.raw = tf, raw
        self.refusals = (tf.errors.OpError, ValueError, TypeError, NotImplementedError, OverflowError, MemoryError)

    def __call__(self, case):
        """'ok', or what was said against the case; raises Odd."""
        try:
            with self.tf.Graph().as_default() as graph:
                return self.run(graph, case)
        except self.refusals as error:
            if isinstance(error, self.tf.errors.InternalError) and not re.search(REFUSED_AS_INTERNAL, str(error)):
                raise Odd('Internal: %s' % error)
            return '%s: %s' % (type(error).__name__, str(error).split('\n')[0][:200])
        except Odd:
            raise
        except Exception as error:
            if type(error) is LookupError:
                return 'no gradient'
            raise Odd('%s: %s' % (type(error).__name__, error))

    def run(self, graph, case):
        tf = self.tf
        self.feeds, self.before, self.fed = {}, [], []
        inputs = {name: [self.build(i) for i in item] if isinstance(item, list) else self.build(item)
                  for name, item in case['inputs'].items()}
        result = getattr(self.raw, case['op'])(**dict(inputs, **case['attrs']))
        node = result if isinstance(result, tf.Operation) else None
        if node is None:
            parts = result if isinstance(result, (list, tuple)) else [result]
            tensors = [t for part in parts for t in (part if isinstance(part, (list, tuple)) else [part])]
            if not tensors:
                return 'no outputs'
            node = tensors[0].op
        if case['spoiled']:
            return self.imported(graph, node, case)
        return self.compute(graph, node, case)

    def compute(self, graph, node, case):
        tf = self.tf
        # A call that waits for another, which never comes, ends.
        config = tf.ConfigProto(intra_op_parallelism_threads=case['threads'], operation_timeout_in_ms=500)
        with tf.Session(graph=graph, config=config) as session:
            for assign in self.before:
                session.run(assign, self.feeds)
            ok = self.fetch(session, node)
            if not case['gradient']:
                return ok
            ys = [t for t in node.outputs if t.dtype.base_dtype.is_floating or t.dtype.base_dtype.is_complex]
            xs = [t for t in self.fed if t.dtype.base_dtype.is_floating or t.dtype.base_dtype.is_complex]
            for _ in range(case['gradient']):
                if not xs or not ys:
                    break
                found = tf.gradients(ys, xs)
                ys = [g for g in found if g is not None and not isinstance(g, tf.IndexedSlices)]
                session.run([g for g in found if g is not None], self.feeds)
            return ok

    def fetch(self, session, node):
        tf = self.tf
        wanted = [t for t in node.outputs if t.dtype.base_dtype not in (tf.resource, tf.variant)]
        values, _ = session.run([wanted, node], self.feeds)
        for t, value in zip(wanted, values):
            shape = t.shape
            if shape.dims is not None and not shape.is_compatible_with(np.shape(value)):
                raise Odd('a result of shape %s where the graph says %s' % (np.shape(value), shape))
        return 'ok'

    def imported(self, graph, node, case):
        """The same graph from a GraphDef, whose node has other attributes."""
        tf = self.tf
        graph_def = graph.as_graph_def()
        for node_def in graph_def.node:
            if node_def.name == node.name:
                for name, value in case['spoiled'].items():
                    spoil_node(node_def, name, value)
        feeds = {t.name: value for t, value in self.feeds.items()}
        with tf.Graph().as_default() as other:
            tf.import_graph_def(graph_def, name='')
            self.feeds = {other.get_tensor_by_name(name): value for name, value in feeds.items()}
            self.fed = [t for t in self.feeds]
            self.before = [other.get_operation_by_name(op.name) for op in self.before]
            return self.compute(other, other.get_operation_by_name(node.name), case)

    def build(self, item):
        tf, (how, dtype, value) = self.tf, item
        if how in ('ref', 'resource'):
            return self.variable(how, dtype, value)
        if how == 'list':
            kind = tf.as_dtype(dtype)
            if value is None or not value.shape:
                return self.raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=kind)
            row = np.array(value.shape[1:], np.int64)
            return self.raw.TensorListFromTensor(tensor=tf.constant(value, kind), element_shape=row)
        carried = tf.as_dtype(QUANTIZED.get(dtype, 'float32' if dtype == 'bfloat16' else dtype))
        if how == 'const':
            t = tf.constant(value, carried)
        else:
            shape = {'shaped': value.shape, 'ranked': [None] * value.ndim, 'fed': None}[how]
            t = tf.placeholder(carried, shape)
            self.feeds[t] = value
            self.fed.append(t)
        if dtype in QUANTIZED:
            return self.raw.Bitcast(input=t, type=tf.as_dtype(dtype))
        return tf.cast(t, tf.bfloat16) if dtype == 'bfloat16' else t

    def variable(self, how, dtype, value):
        tf = self.tf
        shape = () if value is None else value.shape
        name = 'v%d' % len(self.before)
        make = self.raw.VariableV2 if how == 'ref' else self.raw.VarHandleOp
        variable = make(shape=shape, dtype=tf.as_dtype(dtype), shared_name=name)
        if value is not None:
            initial = tf.constant(value, tf.as_dtype('float32' if dtype == 'bfloat16' else dtype))
            initial = tf.cast(initial, tf.bfloat16) if dtype == 'bfloat16' else initial
            self.before.append(self.raw.Assign(ref=variable, value=initial).op if how == 'ref'
                               else self.raw.AssignVariableOp(resource=variable, value=initial))
        return variable


def spoil_node(node_def, name, value):
    """Sets an attribute to anything at all."""
    attr = node_def.attr[name]
    attr.Clear()
    items = value if isinstance(value, list) else [value]
    for item in items:
        where = attr.list if isinstance(value, list) else None
        if isinstance(item, bool):
            where.b.append(item) if where else setattr(attr, 'b', item)
        elif isinstance(item, int):
            where.i.append(item) if where else setattr(attr, 'i', item)
        elif isinstance(item, float):
            where.f.append(item) if where else setattr(attr, 'f', item)
        elif isinstance(item, (bytes, str)):
            text = item.encode() if isinstance(item, str) else item
            if text.decode('latin-1') in NUMPY:
                kind = (NUMPY.index(text.decode('latin-1')) * 7) % 24
                where.type.append(kind) if where else setattr(attr, 'type', kind)
            else:
                where.s.append(text) if where else setattr(attr, 's', text)
        elif isinstance(item, list):
            shape = where.shape.add()
            for size in item:
                shape.dim.add().size = -1 if size is None else size
        elif item is None:
            del node_def.attr[name]
            return


# A case as a program.

def array_text(value):
    if value.dtype == object:
        return 'np.array(%r, object).reshape(%r)' % (value.reshape(-1).tolist(), value.shape)
    if value.size and (value == value.reshape(-1)[0]).all():
        return 'np.full(%r, %s, %r)' % (value.shape, number_text(value.reshape(-1)[0]), value.dtype.name)
    numbers = '[%s]' % ', '.join(number_text(v) for v in value.reshape(-1))
    return 'np.array(%s, %r).reshape(%r)' % (numbers, value.dtype.name, value.shape)


def number_text(value):
    return 'float("%r")' % float(value) if value.dtype.kind == 'f' and not np.isfinite(value) else repr(value.item())


def program(case):
    """The case as a program that runs it."""
    lines = ['import sys', 'import numpy as np', 'import weir as tf', 'from weir.core.op_functions import RawOps', '',
             'sys.path.insert(0, %r)' % HERE, 'import random_cases', '', 'nan, inf = float("nan"), float("inf")']
    inputs = []
    for name, item in case['inputs'].items():
        def text(i):
            return '(%r, %r, %s)' % (i[0], i[1], 'None' if i[2] is None else array_text(i[2]))
        inputs.append('    %r: %s,' % (name, '[%s]' % ', '.join(map(text, item)) if isinstance(item, list) else text(item)))
    attrs = '{%s}' % ', '.join(
        '%r: %s' % (k, array_text(v) if isinstance(v, np.ndarray) else repr(v)) for k, v in case['attrs'].items())
    lines += ['case = dict(op=%r, gradient=%r, threads=%r, inputs={' % (case['op'], case['gradient'], case['threads'])]
    lines += inputs + ['}, attrs=%s, spoiled=%r)' % (attrs, case['spoiled']),
                       'print(random_cases.Runner(tf, RawOps())(case))', '']
    return '\n'.join(lines)

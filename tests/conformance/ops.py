"""Compares every operation of Weir's tables, and its gradient, with TensorFlow's.

The graphs are made by Weir and given to both as the same bytes; op_worker.py runs them on each side.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arrays  # noqa: E402
import former  # noqa: E402
import op_cases  # noqa: E402
from scenes import control, datasets, files, lists, queues, scene, tables  # noqa: E402,F401  (their scenes)

HERE = os.path.dirname(os.path.abspath(__file__))
# Largest relative error of a value and of a gradient. Errors are relative to the value plus a hundredth of the largest
# of its tensor: where terms cancel the last digits are rounding. In the short types they are relative to the largest of
# the tensor: TensorFlow adds up halves in halves, Weir in floats.
TOLERANCE = {'float32': (2e-5, 1e-4), 'float64': (1e-10, 1e-9), 'float16': (5e-3, 1e-2), 'bfloat16': (3e-2, 6e-2),
             'complex64': (2e-5, 1e-4), 'complex128': (1e-10, 1e-9)}
SHORT = ('float16', 'bfloat16')
EXACT = (0.0, 0.0)


def build(tf, raw, op, case, dtype, name, dynamic, input_names):
    """Adds one case to the default graph. Returns what op_worker.py needs; raises what Weir says against the case."""
    feeds, differentiated, after = {}, [], []

    def plain(t):
        """In a type that numpy has."""
        if t.dtype.base_dtype == tf.bfloat16:
            return tf.cast(t, tf.float32)
        return raw.Bitcast(input=t, type=t.dtype.name[1:]) if t.dtype.name.startswith('q') else t

    def fed(array, narrow):
        element_type = tf.string if array.dtype == object else array.dtype.name
        placeholder = tf.placeholder(element_type, None if dynamic else array.shape)
        feeds[placeholder.name] = arrays.pack(array)
        if narrow:
            differentiated.append(placeholder.name)
        is_bfloat16 = narrow and dtype == 'bfloat16' and array.dtype == np.float32
        return tf.cast(placeholder, tf.bfloat16) if is_bfloat16 else placeholder

    def make(value, int64):
        if isinstance(value, list):
            return [make(item, int64) for item in value]
        if isinstance(value, op_cases.K):
            array = value.value.astype(np.int64) if int64 and value.value.dtype == np.int32 else value.value
            return fed(array, False) if dynamic else tf.constant(array)
        if isinstance(value, op_cases.Q):
            return raw.Bitcast(input=fed(value.value, False), type=value.dtype)
        if isinstance(value, op_cases.V):
            initial = fed(value.value, True)
            differentiated.pop()
            resource = ('Resource' in op or 'VariableOp' in op or op.startswith('Stateful')
                        or op in ('VariableShape', 'VarIsInitializedOp', 'RngSkip'))
            variable = (raw.VarHandleOp if resource else raw.VariableV2)(
                shape=value.value.shape, dtype=initial.dtype, shared_name='%s_%d' % (name, len(after)))
            assign = (raw.AssignVariableOp(resource=variable, value=initial) if resource
                      else raw.Assign(ref=variable, value=initial).op)
            after.append((variable, initial.dtype, resource, assign))
            return variable
        return fed(np.asarray(value), np.asarray(value).dtype.kind in 'fc')

    def add(int64):
        with tf.name_scope(name + '/'):
            inputs = {key: make(value, int64) for key, value in zip(input_names, case.inputs)}
            with tf.control_dependencies([assign for _, _, _, assign in after]):
                result = getattr(raw, op)(**dict(inputs, **case.attrs))
            if isinstance(result, tf.Operation):
                outputs, node = [], result
            else:
                outputs = [result] if isinstance(result, tf.Tensor) else [
                    t for part in result for t in (part if isinstance(part, (list, tuple)) else [part])]
                node = outputs[0].op
            with tf.control_dependencies([node]):
                outputs += [raw.ReadVariableOp(resource=variable, dtype=t) if resource else raw.Identity(input=variable)
                            for variable, t, resource, _ in after]
            return [plain(t) for t in outputs]

    try:
        outputs = add(dynamic)
    except (TypeError, ValueError):
        if not dynamic:
            raise
        feeds.clear(), differentiated.clear(), after.clear()
        outputs = add(False)
    return {'name': name, 'type': dtype, 'feeds': feeds, 'fetches': [t.name for t in outputs], 'inputs': differentiated,
            'gradient': case.gradient and not after}


def make_cases(only=None):
    """([operation for the workers], {op: why it is left out}, {(op, case): (type, description)}, [difference])."""
    import weir as tf
    from weir import _weir
    from weir.core.op_functions import RawOps

    raw, operations, left_out, described, refused = RawOps(), [], {}, {}, []
    for op in _weir.op_names():
        if only and op not in only:
            continue
        input_names, attr_rows, _ = _weir.op_spec(op)
        row = op_cases.find(op, input_names, [attr[0] for attr in attr_rows])
        if row is None or isinstance(row, str):
            left_out[op] = row
            continue
        make, types = row
        cases, refusals = [], []
        with tf.Graph().as_default() as graph:
            for dtype in types:
                try:
                    made = list(make(op_cases.Values(dtype, zlib.crc32(op.encode()) % 1000)))
                except (TypeError, ValueError, KeyError) as error:  # the row is not meant for this type
                    refusals.append('%s: %s' % (dtype, error))
                    continue
                for i, case in enumerate(made):
                    for dynamic in ((False, True) if dtype == types[0] else (False,)):
                        name = 'c%d' % len(cases)
                        try:
                            cases.append(build(tf, raw, op, case, dtype, name, dynamic, input_names))
                        except (TypeError, ValueError, NotImplementedError) as error:
                            graph.unique_name(name)
                            refusals.append('%s: %s' % (dtype, error))
                            if i and any(case and case['type'] == dtype for case in cases):  # it is not the type
                                said = str(error).split('\n')[0]
                                refused.append((op, dtype, describe(case, dynamic), 'building', said, ''))
                            # The name stays taken by what was built so far; the next case must not share it.
                            cases.append(None)
                            continue
                        described[op, name] = (dtype, describe(case, dynamic), case.compared)
            cases = [case for case in cases if case]
            if cases:
                graph_def = graph.as_graph_def()
                former.set_version(graph_def, [op])
                operations.append({'op': op, 'graph': graph_def.SerializeToString(), 'cases': cases,
                                   'module': op_cases.CONTRIB.get(op)})
            else:
                left_out[op] = None
                refused.append((op, 'every type', '', 'building', '; '.join(refusals)[:300], ''))
    return operations, left_out, described, refused


def make_scenes(only=None):
    """([scene for the workers], {operation: the names of its scenes}, [difference]); `only`: beginnings of names."""
    import weir as tf
    from weir.core.op_functions import RawOps

    made, covered, refused = [], {}, []
    for name in sorted(scene.SCENES):
        if only and not name.startswith(tuple(only)):
            continue
        try:
            entry, operations = scene.build(tf, RawOps(), name)
        except Exception as error:
            said = '%s: %s' % (type(error).__name__, str(error).split('\n')[0])
            refused.append(('scene ' + name, '', '', 'building', said, ''))
            continue
        made.append(entry)
        for op in operations:
            covered.setdefault(op, []).append('scene ' + name)
    return made, covered, refused


def describe(case, dynamic):
    def shape(value):
        if isinstance(value, list):
            return '[%s]' % ', '.join(shape(item) for item in value)
        if isinstance(value, op_cases.K):
            return str(value.value.tolist())
        if isinstance(value, op_cases.Q):
            return '%s %s' % (value.dtype, 'x'.join(map(str, value.value.shape)))
        array = value.value if isinstance(value, op_cases.V) else np.asarray(value)
        return 'x'.join(map(str, array.shape)) or 'scalar'
    attrs = ['%s=%s' % item for item in sorted(case.attrs.items())]
    return ', '.join([shape(value) for value in case.inputs] + attrs + ([case.what] if case.what else [])
                     + (['shapes unknown'] if dynamic else []))


def pixels(png):
    """A PNG file's size and its pixels, filters undone."""
    at, data, width, height, bits, color = 8, b'', 0, 0, 0, 0
    while at < len(png):
        length, kind = struct.unpack('>I4s', png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b'IHDR':
            width, height, bits, color = struct.unpack('>IIBB', body[:10])
        elif kind == b'IDAT':
            data += body
        at += length + 12
    step = {0: 1, 2: 3, 4: 2, 6: 4}[color] * bits // 8
    data, rows, before = bytearray(zlib.decompress(data)), [], bytearray(width * step)
    for y in range(height):
        begin = y * (width * step + 1)
        method, line = data[begin], data[begin + 1:begin + 1 + width * step]
        for i in range(len(line)):
            a, b, c = (line[i - step] if i >= step else 0), before[i], (before[i - step] if i >= step else 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + [0, a, b, (a + b) // 2, paeth][method]) & 255
        rows.append(bytes(line))
        before = line
    return (width, height, bits, color), b''.join(rows)


def is_summary(op):
    return op.endswith(('Summary', 'SummaryV2'))


def readable_summary(data):
    """A serialised Summary as text, pictures as pixels."""
    import weir as tf

    message = tf.Summary.FromString(data)
    pictures = []
    for value in message.value:
        if value.HasField('image'):
            pictures.append(pixels(value.image.encoded_image_string))
            value.image.encoded_image_string = b''
    return '%s %s' % (message, pictures)


def relative_error(op, dtype, ours, theirs):
    """The largest relative error; 0 when equal, infinity when the shape, the type or an exact value differs."""
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return float('inf')
    if ours.dtype == object:
        if is_summary(op):
            same = all(readable_summary(a) == readable_summary(b) for a, b in zip(ours.reshape(-1), theirs.reshape(-1)))
        else:
            same = ours.tolist() == theirs.tolist()
        return 0.0 if same else float('inf')
    if ours.dtype.kind not in 'fc':
        return 0.0 if np.array_equal(ours, theirs) else float('inf')
    if not ours.size:
        return 0.0
    wide = np.complex128 if ours.dtype.kind == 'c' else np.float64
    a, b = ours.astype(wide), theirs.astype(wide)
    special = ~(np.isfinite(a) & np.isfinite(b))
    if special.any():
        x, y = a[special], b[special]
        if not np.array_equal(np.isnan(x), np.isnan(y)) or not np.array_equal(x[~np.isnan(x)], y[~np.isnan(y)]):
            return float('inf')
        a, b = a[~special], b[~special]
        if not a.size:
            return 0.0
    smallest = float(np.finfo(ours.dtype).tiny)
    scale = abs(b) + (1.0 if dtype in SHORT else 0.01) * min(abs(b).max(), 1e3) + smallest
    return float((abs(a - b) / scale).max())


def show(ours, theirs):
    """Both sides of a difference as text: where arrays are alike in kind, the elements that differ most."""
    sides, place = [], ()
    if all(isinstance(side, np.ndarray) and side.dtype == object and side.size == 1 for side in (ours, theirs)):
        texts = [repr(side.reshape(-1)[0]) for side in (ours, theirs)]
        at = max(len(os.path.commonprefix(texts)) - 30, 0)  # long texts: from shortly before they part
        return [text[at:at + 90] for text in texts]
    arrays_alike = isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray) and (
        ours.shape == theirs.shape and ours.dtype == theirs.dtype and ours.size > 6)
    if arrays_alike:
        with np.errstate(all='ignore'):
            if ours.dtype.kind in 'fc':
                apart = np.nan_to_num(abs(ours.astype('complex128') - theirs.astype('complex128')), nan=0.0)
                apart[np.isnan(ours) != np.isnan(theirs)] = np.inf
            else:
                apart = (ours != theirs).astype(float)
        place = np.unravel_index(int(np.argmax(apart)), apart.shape)
    for value in (ours, theirs):
        if value is None:
            sides.append('nothing')
        elif isinstance(value, tuple):
            sides.append('%s: %s' % value[1:])
        elif arrays_alike:
            sides.append('%r at %s' % (value[place], list(map(int, place))))
        else:
            text = np.array2string(value, threshold=12).replace('\n', '')
            sides.append('%s %s of shape %s' % (text, value.dtype.name, list(value.shape)))
    return sides


class Row(object):
    """One operation in the table."""

    def __init__(self, op):
        self.op, self.cases, self.types, self.value, self.gradient = op, 0, [], {}, {}
        self.differences, self.only_weir, self.neither = [], {}, {}
        self.accepted = {}
        self.judge = ''  # the version of TensorFlow, when it is not the one of the page
        self.no_kernels = {}  # of a scene: operations that TensorFlow has no kernel for, and what it says


def differ(row, dtype, what, kind, ours, theirs):
    why = op_cases.accepted(row.op, dtype, '%s: %s' % (what, kind))
    if why:
        row.accepted[why] = None
        return
    row.differences.append((row.op, dtype, what, kind) + tuple(show(ours, theirs)))


def compare_scene(row, ours, theirs):
    """Step by step; a step is a list of values or how it failed."""
    if len(ours) != len(theirs):  # one side could not import the graph
        differ(row, '', '', 'import', *[side[0] if isinstance(side[0], tuple) else None for side in (ours, theirs)])
        return
    said = [side[2] for side in theirs if isinstance(side, tuple) and 'No OpKernel was registered' in side[2]]
    row.no_kernels = {re.search("Op '(\\w+)'", each).group(1): each for each in said}
    if said:
        return
    for i, (a, b) in enumerate(zip(ours, theirs)):
        what = 'step %d' % (i + 1)
        row.cases += 1
        if isinstance(a, tuple) or isinstance(b, tuple):
            sides = [np.array(side[1]) if isinstance(side, tuple) else np.array('values') for side in (a, b)]
            if sides[0] != sides[1]:
                differ(row, '', what, 'outcome', *[side if isinstance(side, tuple) else None for side in (a, b)])
            continue
        for x, y in zip(map(arrays.unpack, a), map(arrays.unpack, b)):
            error = relative_error(row.op, y.dtype.name, x, y)
            if not error <= (TOLERANCE.get(y.dtype.name, EXACT)[1] if y.dtype.kind in 'fc' else 0.0):
                differ(row, y.dtype.name, what, 'value', x, y)


def compare_case(row, dtype, what, compared, ours, theirs):
    a, b = ours['values'], theirs['values']
    if isinstance(a, tuple) or isinstance(b, tuple):
        if isinstance(a, tuple) and isinstance(b, tuple):
            row.neither[dtype] = a[2]
        elif isinstance(b, tuple):
            row.only_weir[dtype] = b[2]
        else:
            differ(row, dtype, what, 'value', a, arrays.unpack(b[0]) if b else np.zeros(0))
        return
    row.cases += 1
    if dtype not in row.types:
        row.types.append(dtype)

    def tolerance(array, kind):
        """That of the case or of the array, whichever is shorter: some results are float32 whatever the inputs are."""
        if array.dtype.kind not in 'fc':
            return 0.0
        return max(TOLERANCE.get(dtype, EXACT)[kind], TOLERANCE[array.dtype.name][kind])

    for x, y in zip(a[:compared], b[:compared]):
        x, y = arrays.unpack(x), arrays.unpack(y)
        error = relative_error(row.op, dtype, x, y)
        allowed = tolerance(x, 0)
        if not error <= allowed:
            if is_summary(row.op):
                x, y = [np.array([readable_summary(side.item())], object) for side in (x, y)]
            differ(row, dtype, what, 'value', x, y)
        else:
            row.value[dtype] = max(row.value.get(dtype, 0.0), error)
    a, b = ours.get('gradients'), theirs.get('gradients')
    if a is None and b is None or isinstance(a, tuple) and isinstance(b, tuple):
        return
    if isinstance(a, tuple) or isinstance(b, tuple) or a is None or b is None:
        if not isinstance(b, tuple):
            differ(row, dtype, what, 'gradient', a if isinstance(a, tuple) or a is None else arrays.unpack(a[0]),
                   arrays.unpack(b[0]) if b and b[0] else None)
        return
    for x, y in zip(a, b):
        x, y = x and arrays.unpack(x), y and arrays.unpack(y)
        if x is None and y is None:
            continue
        # Where one side has no gradient the other's is zero.
        if x is None or y is None:
            if np.any((y if x is None else x) != 0):
                differ(row, dtype, what, 'gradient', x, y)
            continue
        error = relative_error(row.op, dtype, x, y)
        if not error <= tolerance(x, 1):
            differ(row, dtype, what, 'gradient', x, y)
        else:
            row.gradient[dtype] = max(row.gradient.get(dtype, 0.0), error)


def compare(described, ours, theirs):
    rows = []
    for op in ours:
        row = Row(op)
        ended = [isinstance(results, tuple) for results in (ours[op], theirs[op])]
        if any(ended):
            said = ['%s %s' % results[1:] if end else 'goes on' for end, results in zip(ended, (ours[op], theirs[op]))]
            if op_cases.accepted(op, '', 'process') is None:
                row.differences.append((op, 'some type', 'all cases', 'process') + tuple(said))
            else:
                row.accepted[op_cases.accepted(op, '', 'process')] = None
        elif op.startswith('scene '):
            compare_scene(row, ours[op], theirs[op])
        else:
            for name, result in ours[op].items():
                compare_case(row, *(described[op, name] + (result, theirs[op][name])))
        rows.append(row)
    return rows


class Side(object):
    """A worker of one system. It is started again when an operation ends it; that is a result too."""

    def __init__(self, command, entries, path):
        self.path, self.operations = path, [entry['op'] for entry in entries]
        cases, folder = path + '_cases', path + '_files'
        arrays.store(cases, entries)
        shutil.copytree(os.path.join(os.path.dirname(path), 'files'), folder)
        self.command = command + [os.path.join(HERE, 'op_worker.py'), cases, path, folder]
        if os.path.exists(path):
            os.remove(path)
        self.start()

    def start(self):
        with open(self.path + '.log', 'w') as log:
            self.process = subprocess.Popen(self.command, stderr=log)

    def results(self):
        while self.process.wait() != 0:
            done = dict(arrays.load_all(self.path))
            ended = next((op for op in self.operations if op not in done), None)
            with open(self.path + '.log') as log:
                last = log.read().strip().split('\n')[-1]
            if ended is None or self.process.returncode > 0:
                sys.exit('%s: %s' % (' '.join(self.command), last))
            arrays.append(self.path, (ended, ('error', 'ended by signal %d' % -self.process.returncode, last)))
            self.start()
        return dict(arrays.load_all(self.path))


def largest(errors):
    """The largest error in float32 and in all types."""
    def short(error):
        return '' if error is None else '0' if error == 0 else '%.0e' % error

    return '%s | %s' % (short(errors.get('float32')), short(max(errors.values()) if errors else None))


def results_of(sides):
    return {op: results for side in sides for op, results in side.results().items()}


def ask_newer(newer, version, rows, operations, described, ours, folder):
    """Compares with a later TensorFlow what the other has no kernel for."""
    lacking = set(row.op for row in rows if not row.cases and row.only_weir)
    again = [entry for entry in operations if entry['op'] in lacking]
    theirs = Side(newer, again, os.path.join(folder, 'newer')).results()
    for row in compare(described, {op: ours[op] for op in lacking}, theirs):
        if row.cases:
            row.judge = version
            rows[[old.op for old in rows].index(row.op)] = row


def table(rows):
    """The part of the page about operations that have rows of cases."""
    lines = ['| Operation | Cases | Types | Value, float32 | all | Gradient, float32 | all | Only here | Verdict |',
             '|---|---|---|---|---|---|---|---|---|']
    for row in rows:
        verdict = 'same' if row.cases else 'not comparable'
        if row.differences:
            verdict = '**%d differences**' % len(row.differences)
        lines.append('| %s | %d | %s | %s | %s | %s | %s |' % (
            row.op, row.cases, ' '.join(row.types), largest(row.value), largest(row.gradient),
            ' '.join(t for t in row.only_weir if t not in row.types), verdict + (row.judge and ' as ' + row.judge)))
    return lines


def scene_table(operations, covered, scenes):
    lines = ['| Operation | Steps | Scenes | Verdict |', '|---|---|---|---|']
    for op in operations:
        parts = [scenes[name] for name in covered[op] if name in scenes]
        found = sum(len(part.differences) for part in parts)
        names = sorted(set(part.op.split()[1] for part in parts))
        lines.append('| %s | %d | %s | %s |' % (
            op, sum(part.cases for part in parts), ', '.join(names[:3]) + (', ...' if len(names) > 3 else ''),
            '**%d differences**' % found if found else 'same'))
    return lines


def run(weir, tensorflow, folder, only=None, newer=None):
    """(markdown, differences). `weir`, `tensorflow` and `newer` (command, version) are commands that run a program."""
    import weir as tf

    begin = time.time()
    operations, left_out, described, refused = make_cases(only)
    scenes, covered, more = make_scenes(only)
    refused += more
    files.make(tf, os.path.join(folder, 'files'))
    # TensorFlow takes most of the time: two workers, and one of Weir beside them for the first minutes.
    work = operations + scenes
    here = [Side(weir, work, os.path.join(folder, 'weir'))]
    there = [Side(tensorflow, work[i::2], os.path.join(folder, 'tensorflow%d' % i)) for i in (0, 1)]
    ours, theirs = results_of(here), results_of(there)
    everything = compare(described, ours, theirs)
    if newer:
        ask_newer(newer[0], newer[1], everything, operations, described, ours, folder)
    rows = sorted((row for row in everything if not row.op.startswith('scene ')), key=lambda row: row.op)
    scenes = {row.op: row for row in everything if row.op.startswith('scene ')}
    no_kernels = {op: said for row in scenes.values() for op, said in row.no_kernels.items()}
    in_scenes = sorted(op for op in covered if op not in no_kernels and not any(row.op == op and row.cases for row in rows))
    incomparable = [row for row in rows if not row.cases and not row.differences and row.op not in in_scenes]
    compared = [row for row in rows if row.cases or row.differences]
    left_out = {op: no_kernels.get(op, why) for op, why in left_out.items() if op in no_kernels or op not in covered}
    refused += [(op, '', '', 'coverage', 'no case, no scene and no reason for it', '')
                for op, why in left_out.items() if why is None]
    differences = [d for row in everything for d in row.differences] + refused
    count = sum(row.cases for row in rows)
    steps = sum(row.cases for row in scenes.values())
    lines = ['## Operations', '',
             '%d operations, one by one in %d cases: values and gradients. %d more in %d scenes, small graphs with %d runs '
             'that are compared in turn: values, and the class of the error where a run fails. %d cannot be compared.' % (
                 len(compared), count, len(in_scenes), len(scenes), steps, len(incomparable) + len(left_out)), '',
             'The largest relative errors over all cases, each within the tolerance of its type: %s; everything else '
             'exactly. "Only here": types that this operation has in Weir and not in TensorFlow.' % ', '.join(
                 '%s %g (gradient %g)' % ((name,) + TOLERANCE[name]) for name in sorted(TOLERANCE)), '']
    lines += table(compared) + ['', '## Operations in scenes', ''] + scene_table(in_scenes, covered, scenes)
    lines += ['', '## Accepted differences', '', "On purpose, or TensorFlow's own:", '']
    lines += ['- %s: %s' % (row.op, why) for row in everything for why in row.accepted]
    lines += ['', '## Not compared', '']
    said = {row.op: next(iter((row.only_weir or row.neither).values())) for row in incomparable}
    reasons = {op: 'TensorFlow has no kernel for CPUs' if 'No OpKernel was registered' in why else why
               for op, why in dict(said, **{op: why for op, why in left_out.items() if why}).items()}
    lines += ['- %s: %s' % item for item in sorted(reasons.items())]
    if only:
        for row in rows:
            print(row.op, 'only Weir:', row.only_weir, 'neither:', row.neither)
    seconds = time.time() - begin
    print('operations: %d, cases: %d, scenes: %d, steps: %d, differences: %d, %.0f s' % (
        len(rows), count, len(scenes), steps, len(differences), seconds))
    return lines, differences


if __name__ == '__main__':  # ops.py PYTHON [operation, or the beginning of the name of a scene...]: their differences
    import tempfile

    driver = os.path.join(HERE, 'tensorflow_driver.py')
    with tempfile.TemporaryDirectory() as directory:
        text, found = run([sys.executable, '-m', 'weir'], [sys.argv[1], driver], directory, sys.argv[2:])
    print('\n'.join(text))
    for difference in found:
        print('DIFFERENT %s %s (%s) %s\n    Weir:       %s\n    TensorFlow: %s' % difference)

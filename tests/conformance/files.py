"""Files of each system, read by both: what is found must be what TensorFlow finds in its own."""
import os
import shutil
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import arrays  # noqa: E402

WHAT = {
    'checkpoint_v2': 'Checkpoint V2: all types, strings, slices',
    'checkpoint_v1': 'Checkpoint V1: all types, strings, slices',
    'saver': 'Saver: checkpoints, their state file and meta graph; training goes on from them',
    'saver_v1': 'The same with V1 files',
    'graph': 'GraphDef: two networks with their training, shapes, constants of all types; imported and run',
    'record': 'Record files, plain, gzip and zlib, and Example messages',
    'event': 'Event files: scalars, histograms, pictures, text, the graph',
}


def difference(found, expected, more):
    """Where two readings differ, or None. Of V1 files Weir reads types that TensorFlow does not; `more` has those."""
    for reading in (found, expected):
        if isinstance(reading, str):
            return reading
    expected = dict(expected, **{name: more[name] for name in found if name not in expected and name in more})
    if sorted(found) != sorted(expected):
        return 'names: %s' % sorted(set(found) ^ set(expected))
    for name in sorted(expected):
        a, b = arrays.unpack(found[name]), arrays.unpack(expected[name])
        same = a.shape == b.shape and (a.dtype == b.dtype or a.dtype.kind == b.dtype.kind) and (
            np.allclose(a, b, rtol=1e-4, atol=1e-6) if a.dtype.kind in 'fc' else np.array_equal(a, b))
        if not same:
            return '%s: %s instead of %s' % (name, a, b)
    return None


def run_all(weir, tensorflow, folder):
    """(markdown, differences)."""
    sides = {'Weir': weir, 'TensorFlow': tensorflow}
    found, worker = {}, os.path.join(HERE, 'file_worker.py')
    for writer, command in sides.items():
        place = os.path.join(folder, 'files_' + writer)
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        subprocess.run(command + [worker, 'write', place], check=True, stderr=subprocess.DEVNULL)
        for reader, command in sides.items():
            results = os.path.join(folder, '%s_%s' % (writer, reader))
            subprocess.run(command + [worker, 'read', place, results], check=True, stderr=subprocess.DEVNULL)
            found[writer, reader] = arrays.load(results)
    lines = ['## Files', '', __doc__, '',
             '| Files | Written by Weir, read by TensorFlow | Written by TensorFlow, read by Weir | '
             'Written and read by Weir |', '|---|---|---|---|']
    differences, truth = [], found['TensorFlow', 'TensorFlow']
    for kind, what in WHAT.items():
        verdicts = []
        for pair in (('Weir', 'TensorFlow'), ('TensorFlow', 'Weir'), ('Weir', 'Weir')):
            more = truth['checkpoint_v2'] if kind == 'checkpoint_v1' else {}
            wrong = difference(found[pair][kind], truth[kind], more)
            if wrong:
                differences.append((kind, 'file', 'written by %s, read by %s' % pair, 'content', wrong, ''))
            verdicts.append('**different**' if wrong else 'same')
        lines.append('| %s | %s |' % (what, ' | '.join(verdicts)))
    print('files: %d kinds, differences: %d' % (len(WHAT), len(differences)))
    return lines, differences

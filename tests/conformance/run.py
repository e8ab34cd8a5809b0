"""`make conformance`: compares Weir with TensorFlow and writes docs/conformance.md. run.py PYTHON_WITH_TENSORFLOW

Ends with 1 when there is a difference.
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import files  # noqa: E402
import ops  # noqa: E402
import programs  # noqa: E402


def grouped(differences):
    """A line for each operation and kind of difference: the types, how many cases, and the first of them."""
    groups = {}
    for name, dtype, what, kind, ours, theirs in differences:
        error = ours.split(':')[0] if 'Error: ' in ours or kind == 'building' else 'other'
        groups.setdefault((name, kind, error), []).append((dtype, what, ours, theirs))
    for (name, kind, _), cases in sorted(groups.items()):
        types = sorted(set(case[0] for case in cases))
        _, what, ours, theirs = cases[0]
        count = '' if len(cases) == 1 else ', %d cases' % len(cases)
        yield '- %s, %s (%s%s): %s: Weir `%s`, TensorFlow `%s`' % (
            (name, kind, ' '.join(types), count, what or 'all') + tuple(
                side[:200].replace('`', "'") for side in (ours, theirs)))


def main(python):
    os.environ['PYTHONPATH'] = os.path.join(ROOT, 'python')
    weir = [sys.executable, '-m', 'weir']
    tensorflow = [python, os.path.join(HERE, 'tensorflow_driver.py')]
    version = subprocess.run(tensorflow + [os.path.join(HERE, 'version.py')], stdout=subprocess.PIPE,
                             universal_newlines=True, check=True).stdout.strip()
    lines, differences = [], []
    with tempfile.TemporaryDirectory() as folder:
        for section in (ops.run, programs.run_all, files.run_all):
            place = os.path.join(folder, section.__module__)
            os.makedirs(place)
            more, found = section(weir, tensorflow, place)
            lines += more + ['']
            differences += found
    text = ['# Conformance', '',
            'What `make conformance` found: Weir beside TensorFlow %s, from the same graphs, programs and files. '
            'This page is written by it.' % version, '', '## Differences', '']
    text += list(grouped(differences)) or ['None.']
    with open(os.path.join(ROOT, 'docs', 'conformance.md'), 'w') as out:
        out.write('\n'.join(text + [''] + lines).rstrip() + '\n')
    print('%d differences; docs/conformance.md has the whole' % len(differences))
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

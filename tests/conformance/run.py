"""`make conformance`: compares Weir with TensorFlow and writes docs/conformance.md. run.py PYTHON_WITH_TENSORFLOW [ANOTHER]

A second Python, with a later TensorFlow, is asked about operations that the first has no kernel for. Ends with 1 when
there is a difference.
"""
import os
import re
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
        # Where in the harness a node was made says nothing.
        ours = re.sub(r"\w+ 'c\d+/[^']*' \([^)]*\): ", '', ours)
        ours = re.sub(r"operation 'c\d+/[^']*' \(op type: (\w+)\)", r'\1', ours)
        error = ours.split(':')[0] if 'Error: ' in ours else 'other'
        groups.setdefault((name, kind, error), []).append((dtype, what, ours, theirs))
    for (name, kind, _), cases in sorted(groups.items()):
        types = sorted(set(case[0] for case in cases))
        _, what, ours, theirs = cases[0]
        count = '' if len(cases) == 1 else ', %d cases' % len(cases)
        yield '- %s, %s (%s%s): %s: Weir `%s`, TensorFlow `%s`' % (
            (name, kind, ' '.join(types), count, what or 'all') + tuple(
                side[:200].replace('`', "'") for side in (ours, theirs)))


def command_of(python):
    """How a program runs on the TensorFlow of a Python, and its version."""
    command = [python, os.path.join(HERE, 'tensorflow_driver.py')]
    version = subprocess.run(command + [os.path.join(HERE, 'version.py')], stdout=subprocess.PIPE, universal_newlines=True,
                             check=True).stdout.strip()
    return command, version


def main(python, newer=None):
    os.environ['PYTHONPATH'] = os.path.join(ROOT, 'python')
    weir = [sys.executable, '-m', 'weir']
    tensorflow, version = command_of(python)
    newer = newer and command_of(newer)
    lines, differences = [], []
    with tempfile.TemporaryDirectory() as folder:
        for section, more in ((ops.run, dict(newer=newer)), (programs.run_all, {}), (files.run_all, {})):
            place = os.path.join(folder, section.__module__)
            os.makedirs(place)
            shown, found = section(weir, tensorflow, place, **more)
            lines += shown + ['']
            differences += found
    text = ['# Conformance', '',
            'What `make conformance` found: Weir beside TensorFlow %s, from the same graphs, programs and files. %s'
            'This page is written by it.' % (version, newer and 'Operations that this version has no kernel for are beside '
                                             'TensorFlow %s, where the table says so. ' % newer[1] or ''),
            '', '## Differences', '']
    text += list(grouped(differences)) or ['None.']
    with open(os.path.join(ROOT, 'docs', 'conformance.md'), 'w') as out:
        out.write('\n'.join(text + [''] + lines).rstrip() + '\n')
    print('%d differences; docs/conformance.md has the whole' % len(differences))
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))

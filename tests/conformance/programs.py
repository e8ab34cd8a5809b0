"""Runs the programs of examples/python on Weir and on TensorFlow and compares what they print, token by token.

Words must be equal. Numbers may differ by 0.2 % or by two of the last printed digit, where rounding hides the rest;
accuracies after training by the margin stated for the program, since rounding decides on single pictures.
"""
import os
import re
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MNIST = os.path.join(ROOT, 'data', 'mnist')
NUMBER = re.compile(r'-?\d+\.?\d*(?:e[-+]?\d+)?')

# Program: (arguments, margin of numbers that follow the word "accuracy"). {folder} is an empty folder.
PROGRAMS = {
    'counter.py': ([], 0),
    'dcgan.py': ([MNIST, '11'], 0),
    'linear.py': (['{folder}'], 0),
    'logistic.py': ([MNIST], 0.005),
    'mnist_convnet.py': ([MNIST, '100'], 0.03),
    'mnist_dense.py': ([MNIST, '{folder}'], 0.011),
    'placeholders.py': ([], 0),
    'resume.py': (['{folder}'], 0),
    'sharing.py': ([], 0),
    'vae.py': ([MNIST, '101'], 0),
    'word2vec.py': (['201'], 0),
}

# Programs whose output cannot be compared word by word.
SEEDS = 'begins from other random weights than on TensorFlow, and is therefore not compared number by number'
APART = {
    'char_rnn.py': SEEDS,
    'language_model.py': SEEDS,
    'mnist_replica.py': 'needs a cluster; tests/cluster compares it',
    'sequence_autoencoder.py': SEEDS,
    'show_and_tell.py': SEEDS,
    'translation.py': SEEDS,
    'cifar10.py': 'prints times; docs/cifar10.md compares its accuracies with those on TensorFlow',
    'devices.py': 'needs GPUs, which TensorFlow has no virtual ones of',
    'matpow.py': 'prints times',
}


def run(command, program, args, folder):
    """What a program prints."""
    args = [arg.format(folder=folder) for arg in args]
    done = subprocess.run(command + [os.path.join(ROOT, 'examples', 'python', program)] + args, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=ROOT, universal_newlines=True)
    if done.returncode != 0:
        return 'exit code %d: %s' % (done.returncode, done.stderr.strip().split('\n')[-1])
    return done.stdout


def is_close(a, b, margin):
    """Whether two printed numbers say the same."""
    digits = max(len(text.split('.')[1]) if '.' in text and 'e' not in text else 0 for text in (a, b))
    x, y = float(a), float(b)
    last = 2.01 * 10.0 ** -digits if digits else 0.0
    return abs(x - y) <= max(2e-3 * abs(y) if digits else 0.0, last, margin)


def compare(ours, theirs, margin):
    """The first difference, or None."""
    left, right = ours.strip().split('\n'), theirs.strip().split('\n')
    for a, b in zip(left, right):
        words = [NUMBER.split(line) for line in (a, b)]
        numbers = [NUMBER.findall(line) for line in (a, b)]
        allowed = margin if 'accuracy' in a else 0
        if words[0] != words[1] or not all(is_close(x, y, allowed) for x, y in zip(*numbers)):
            return a, b
    if len(left) != len(right):
        return '%d lines' % len(left), '%d lines' % len(right)
    return None


def relay(commands, folder):
    """resume.py by each command in turn, each ten steps further, in one folder: everything printed."""
    return ''.join(run(command, 'resume.py', ['{folder}', str(10 * (i + 1))], folder)
                   for i, command in enumerate(commands))


def run_all(weir, tensorflow, folder):
    """(markdown, differences)."""
    lines = ['## Programs', '', __doc__.split('\n', 2)[2].strip().replace('\n', ' '), '',
             '| Program | Lines | Weir, s | TensorFlow, s | Verdict |', '|---|---|---|---|---|']
    differences = []

    def record(name, texts, times, margin):
        found = compare(texts[0], texts[1], margin)
        if found:
            differences.append((name, 'program', '', 'line') + found)
        verdict = '**different**' if found else 'same' + (' (accuracies within %g)' % margin if margin else '')
        lines.append('| %s | %d | %s | %s | %s |' % (
            (name, len(texts[1].strip().split('\n'))) + tuple('%.1f' % t for t in times) + (verdict,)))

    def fresh(name):
        path = os.path.join(folder, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        return path

    for program, (args, margin) in sorted(PROGRAMS.items()):
        texts, times = [], []
        for side, command in (('weir', weir), ('tensorflow', tensorflow)):
            begin = time.time()
            texts.append(run(command, program, args, fresh(side)))
            times.append(time.time() - begin)
        record(program, texts, times, margin)
    # Training that one system begins, the other goes on with and the first ends, against TensorFlow alone.
    begin = time.time()
    alone, seconds = relay([tensorflow] * 3, fresh('alone')), time.time() - begin
    for name, order in (('Weir, TensorFlow, Weir', [weir, tensorflow, weir]),
                        ('TensorFlow, Weir, TensorFlow', [tensorflow, weir, tensorflow])):
        begin = time.time()
        texts = [relay(order, fresh('mixed')), alone]
        record('resume.py: ' + name, texts, [time.time() - begin, seconds], 0)
    compared = len(lines) - 6
    lines += ['', 'Not compared here: ' + '; '.join('%s (%s)' % item for item in sorted(APART.items())) + '.']
    for name in sorted(os.listdir(os.path.join(ROOT, 'examples', 'python'))):
        if name.endswith('.py') and name not in PROGRAMS and name not in APART:
            differences.append((name, 'program', '', 'line', 'not in programs.py', ''))
    print('programs: %d, differences: %d' % (compared, len(differences)))
    return lines, differences

"""Runs random calls of every operation, right ones and spoiled ones, and watches: fuzz_ops.py [options]

Calls run in worker processes with limits on time and memory. A worker that dies or stops answering, or an exception
that is neither a tf.errors.* nor a ValueError or TypeError, is a finding: the call is shrunk and printed as a program.
Ends with status 1 when there are findings. The same --seed makes the same calls.

With an extension that is built with sanitizers: --memory 0, LD_PRELOAD=libasan.so, and
ASAN_OPTIONS=detect_leaks=0,allocator_may_return_null=1,max_allocation_size_mb=2000 UBSAN_OPTIONS=halt_on_error=1.
"""
import argparse
import os
import pickle
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--ops', default='.*', help='a regular expression of names')
    parser.add_argument('--calls', type=int, default=20, help='of each operation')
    parser.add_argument('--first', type=int, default=0, help='number of the first call of each')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--seconds', type=float, default=0, help='go on with further calls for so long')
    parser.add_argument('--limit', type=float, default=20, help='seconds that a call may take')
    parser.add_argument('--memory', type=float, default=2, help='gigabytes of addresses that a worker may have; 0: any')
    parser.add_argument('--save', default='', help='folder for the programs')
    parser.add_argument('--quiet', action='store_true', help='print findings only')
    parser.add_argument('--worker', default='', help=argparse.SUPPRESS)
    return parser.parse_args()


# The worker: tells each call before it begins, and how it ended.

def work(options):
    if options.memory:
        limit = int(options.memory * (1 << 30))
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(1), 'w')
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # what operations print

    import random_cases
    import weir as tf
    from weir.core.op_functions import RawOps
    run = random_cases.Runner(tf, RawOps())

    def tell(*words):
        out.write(' '.join(words).replace('\n', ' ') + '\n')
        out.flush()

    if options.worker == 'case':
        cases = [('case', lambda: pickle.load(sys.stdin.buffer))]
    else:
        signatures = random_cases.signatures()
        cases = [(call, lambda call=call: random_cases.Maker(signatures[call.split()[0]], call.split()[1]).make())
                 for call in sys.stdin.read().split('\n') if call]
    for call, make in cases:
        tell('begin', call)
        try:
            tell('end', run(make()))
        except random_cases.Odd as odd:
            tell('odd', str(odd))


# The parent.

class Worker(object):
    """A process that runs calls; answers() gives what it says, and at last why it ended."""

    def __init__(self, options, kind, data):
        self.folder = tempfile.TemporaryDirectory(prefix='weir_fuzz')  # for what operations write
        command = [sys.executable, os.path.abspath(__file__), '--worker', kind, '--memory', str(options.memory)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        cwd=self.folder.name, start_new_session=True)
        self.process.stdin.write(data)
        self.process.stdin.close()
        self.limit, self.errors = options.limit, b''

    def answers(self):
        """('begin' or 'end' or 'odd' or 'died', text), ..."""
        with self.folder:
            for answer in self.read():
                yield answer

    def read(self):
        pipes = {self.process.stdout: b'', self.process.stderr: b''}
        deadline = time.time() + self.limit + 20  # to begin with
        while pipes:
            ready, _, _ = select.select(list(pipes), [], [], max(deadline - time.time(), 0))
            if not ready:
                os.kill(self.process.pid, signal.SIGKILL)
                self.process.wait()
                yield 'died', 'no answer for %g seconds' % self.limit
                return
            for pipe in ready:
                data = os.read(pipe.fileno(), 65536)
                if not data:
                    del pipes[pipe]
                elif pipe is self.process.stderr:
                    self.errors = (self.errors + data)[:4000]  # sanitizers begin with what matters
                else:
                    *lines, pipes[pipe] = (pipes[pipe] + data).split(b'\n')
                    for line in lines:
                        deadline = time.time() + self.limit
                        kind, _, text = line.decode('utf-8', 'replace').partition(' ')
                        yield kind, text
        status = self.process.wait()
        if status:
            why = signal.Signals(-status).name if status < 0 else 'status %d' % status
            yield 'died', '%s %s' % (why, self.errors.decode('utf-8', 'replace')[:2500])


def failure(options, case):
    """What is wrong with a case that runs alone, or None."""
    for kind, text in Worker(options, 'case', pickle.dumps(case)).answers():
        if kind in ('odd', 'died'):
            return text
    return None


def simpler(case):
    """Cases with one thing less."""
    import numpy as np
    if case['gradient']:
        yield dict(case, gradient=case['gradient'] - 1)
    if case['threads'] > 1:
        yield dict(case, threads=1)
    for key in ('spoiled', 'attrs'):
        for name in case[key]:
            yield dict(case, **{key: {k: v for k, v in case[key].items() if k != name}})
    for name, item in case['inputs'].items():
        if isinstance(item, list):
            for i in range(len(item)):
                yield dict(case, inputs=dict(case['inputs'], **{name: item[:i] + item[i + 1:]}))
            continue
        how, dtype, value = item
        others = [('const', dtype, value)] if how in ('fed', 'ranked', 'shaped') else []
        if value is not None and value.size > 1 and value.dtype != object:
            others.append((how, dtype, np.full(value.shape, value.reshape(-1)[0], value.dtype)))
            others.append((how, dtype, np.full(value.shape, 1, value.dtype)))
        for other in others:
            if other[0] != how or value is None or not np.array_equal(other[2], value):
                yield dict(case, inputs=dict(case['inputs'], **{name: other}))


def shrink(options, case, text):
    """The simplest case that fails still, in a minute."""
    def kind(t):
        return 'odd' if re.match('[A-Za-z]+:', t) else t.split()[0]

    until, again = time.time() + 60, True
    while again and time.time() < until:
        again = False
        for other in simpler(case):
            found = failure(options, other)
            if found and kind(found) == kind(text):
                case, text, again = other, found, True
                break
            if time.time() > until:
                break
    return case, text


def report(options, call, text, findings):
    import random_cases
    op, number = call.split()
    case = random_cases.Maker(random_cases.signatures()[op], number).make()
    alone = failure(options, case)
    if alone:
        case, text = shrink(options, case, alone)
    print('\n%s\n%s\n%s%s' % ('-' * 100, call, text, '' if alone else '\n(only after other calls)'))
    print(random_cases.program(case))
    sys.stdout.flush()
    if options.save:
        os.makedirs(options.save, exist_ok=True)
        with open(os.path.join(options.save, call.replace(' ', '_').replace(':', '_') + '.py'), 'w') as f:
            f.write('# %s\n%s' % (text.replace('\n', '\n# '), random_cases.program(case)))
    findings.append(call)


def watch(options, calls):
    """Runs calls; (how often each answer came, findings)."""
    counts, findings = {}, []
    while calls:
        done, current = 0, None
        for kind, text in Worker(options, 'calls', '\n'.join(calls).encode()).answers():
            if kind == 'begin':
                current = text
            elif kind == 'end':
                done += 1
                counts[text.split(':')[0]] = counts.get(text.split(':')[0], 0) + 1
            elif current is None:
                sys.exit('a worker does not start: %s' % text)
            elif kind == 'odd' or done < len(calls):
                done += 1
                report(options, current, text, findings)
            else:
                findings.append('the end of a worker: %s' % text)
                print(findings[-1])
        calls = calls[done:]
    return counts, findings


def main():
    options = parse()
    if options.worker:
        return work(options)
    import random_cases
    from weir import _weir
    known = random_cases.signatures()
    ops = [op for op in _weir.op_names() if op in known and op not in random_cases.NEVER and re.fullmatch(options.ops, op)]
    begin, first, findings = time.time(), options.first, []
    while True:
        calls = ['%s %d:%d' % (op, options.seed, n) for op in ops for n in range(first, first + options.calls)]
        counts, found = watch(options, calls)
        findings += found
        first += options.calls
        if not options.quiet:
            print('%d operations, calls %d to %d: %s' % (len(ops), first - options.calls, first - 1, ', '.join(
                '%s %d' % (k, v) for k, v in sorted(counts.items(), key=lambda x: -x[1]))))
            sys.stdout.flush()
        if time.time() - begin >= options.seconds:
            break
    if findings:
        sys.exit('%d findings: %s' % (len(findings), ', '.join(findings)))


if __name__ == '__main__':
    main()

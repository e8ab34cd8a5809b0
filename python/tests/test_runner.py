import signal
import os
import subprocess
import sys

import pytest


def test_program_sees_what_python_gives_it(weir, tmp_path):
    program = """
        import sys, __main__
        print(__name__, __file__, sys.argv, sys.path[0], __spec__, __main__.__dict__ is globals())
    """
    result = weir({"p.py": program}, "run", "p.py", "a", "-b")
    expected = subprocess.run([sys.executable, "p.py", "a", "-b"], cwd=tmp_path, capture_output=True, text=True)
    assert result.stdout == expected.stdout != "", result.stderr


def test_tensorflow_is_weir(weir):
    result = weir({"p.py": "import tensorflow as tf, weir; print(tf is weir)"}, "p.py")
    assert result.stdout == "True\n", result.stderr


@pytest.mark.parametrize(
    "program",
    [
        "import sys; sys.exit(5)",
        "import sys; sys.exit('words')",
        "raise SystemExit",
        "1/0",
        "x = = 3",
        "print(1)",
        "import nothing_here",
    ],
)
def test_exit_codes_and_tracebacks_are_pythons(weir, tmp_path, program):
    result = weir({"p.py": program}, "p.py")
    expected = subprocess.run([sys.executable, "p.py"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == expected.returncode
    assert result.stdout == expected.stdout
    assert result.stderr == expected.stderr


def test_interrupts_end_as_pythons(weir):
    result = weir({"p.py": "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)"}, "p.py")
    assert result.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in result.stderr and "runner.py" not in result.stderr


def test_usage(weir):
    assert weir({}, "--version").stdout.startswith("weir ")
    assert "usage: weir run" in weir({}, "run", "--help").stdout
    commands = weir({}, "--help")
    assert commands.returncode == 0 and "checkpoint" in commands.stdout and "server" in commands.stdout
    assert weir({}).returncode == 2
    assert weir({}, "--nothing", "p.py").returncode == 2
    missing = weir({}, "missing.py")
    assert missing.returncode == 2 and "can't open file 'missing.py'" in missing.stderr
    assert "'weir --help' lists them" in weir({}, "serve").stderr


PYTHON2 = """
    import sys, math, itertools
    import numpy as np
    import helper
    reload(sys); sys.setdefaultencoding('utf8')
    print helper.half(7), 7 / 2, 7.0 / 2, np.array([7, 8]) / 2, np.array([7., 8]) / 2
    a = np.array([9, 10]); a /= 2; print a, round(2.5), math.ceil(2.1), 5 / math.floor(2.5)
    print helper.Holder().go(), 0777, 10L, `3`, 1 <> 2
    d = {'a': 1}
    for k, v in d.iteritems(): print k, v,
    print
    print d.keys()[0], d.has_key('a'), map(lambda x: x + 1, [1, 2]), zip([1], [2])[0], range(3) + [4]
    x = [3, 1, 2]; x.sort(lambda p, q: cmp(q, p)); print x, sorted(x, cmp=cmp), reduce(lambda p, q: p + q, x)
    def f((p, q), r):
        return p + q + r
    print f((1, 2), 3), 'abc'.decode('utf-8'), unicode(3), isinstance('x', basestring)
    try:
        helper.boom()
    except ValueError, e:
        print 'caught', e
    print list(itertools.izip([1], [2])), list(xrange(2)), np.fromstring('ab', dtype=np.uint8)
    print raw_input(), input()
    print >>sys.stderr, 'aside'
"""
HELPER2 = """
    import cPickle
    from StringIO import StringIO
    def half(n):
        return n / 2
    def boom():
        raise ValueError, "boom"
    class Holder:
        def __init__(self):
            self.__x = 7
            self.y = [7, 8]
            self.z = {0: 9}
        def go(self):
            self.__x /= 2
            self.y[0] /= 2
            self.z[0] /= 2
            return self.__x, self.y, self.z
"""


def test_python2_runs_as_on_python2(weir):
    result = weir({"p.py": PYTHON2, "helper.py": HELPER2}, "p.py", stdin="words\n1 + 1\n")
    assert result.returncode == 0, result.stderr
    assert result.stdout.split("\n") == [
        "3 3 3.5 [3 4] [3.5 4. ]",
        "[4 5] 3.0 3.0 2.5",
        "(3, [3, 8], {0: 4}) 511 10 3 True",
        "a 1 ",
        "a True [2, 3] (1, 2) [0, 1, 2, 4]",
        "[3, 2, 1] [1, 2, 3] 6",
        "6 abc 3 True",
        "caught boom",
        "[(1, 2)] [0, 1] [97 98]",
        "words 2",
        "",
    ]
    assert result.stderr == "aside\n"


def test_python2_files_in_memory_do_not_hide_names(weir):
    program = """
        import StringIO, cStringIO
        def picture():
            io = StringIO.StringIO()  # converted by name, this would be io = io.StringIO()
            io.write('\\x89'.encode('latin-1'))
            return io.getvalue()
        print repr(picture()), cStringIO.StringIO('text').read()
    """
    result = weir({"p.py": program}, "p.py")
    assert result.stdout == "b'\\x89' text\n", result.stderr


def test_an_axis_beyond_the_last_is_a_new_last_one(weir):
    result = weir({"p.py": "import numpy as np; print(np.expand_dims(np.ones((2, 3)), 4).shape, "
                           "np.expand_dims([1], 0).shape)"}, "p.py")
    assert result.stdout == "(2, 3, 1) (1, 1)\n", result.stderr


def test_flags_of_absl_are_parsed_for_tests(weir):
    program = """
        import tensorflow as tf
        from absl import flags
        flags.DEFINE_string("kind", "default", "")
        class Test(tf.test.TestCase):
            def test_kind(self):
                self.assertEqual(flags.FLAGS.kind, "given")
        tf.test.main()
    """
    result = weir({"p.py": program}, "p.py", "--kind=given")
    assert result.returncode == 0, result.stderr


def test_flags_of_absl_are_among_those_of_tensorflow(weir):
    pytest.importorskip("absl")
    program = """
        import tensorflow as tf
        from absl import flags
        flags.DEFINE_string("kind", "default", "")
        FLAGS = tf.flags.FLAGS
        print(FLAGS.kind, "kind" in FLAGS)
        FLAGS.kind = "set"
        print(flags.FLAGS.kind)
    """
    result = weir({"p.py": program}, "p.py", "--kind=given")
    assert result.stdout == "given True\nset\n", result.stderr


def test_python2_tracebacks_show_the_users_lines(weir):
    program = """\
        from itertools import izip, imap
        def f((a, b)):
            try:
                print a
            except (TypeError, ValueError), (x, y):
                pass
            raise KeyError, "here"  # line 7
        f((1, 2))
    """
    result = weir({"p.py": program}, "p.py")
    assert 'p.py", line 7, in f\n    raise KeyError, "here"  # line 7\n' in result.stderr
    assert 'p.py", line 8, in <module>' in result.stderr


def test_modules_around_a_python2_program_are_python2(weir):
    files = {"p.py": "import m, sub.n\nprint m.half(7), sub.n.value", "m.py": "def half(n): return n / 2",
             "sub/__init__.py": "", "sub/n.py": "import o\nvalue = o.value", "sub/o.py": "value = 9 / 2"}  # fmt: skip
    assert weir(files, "p.py").stdout == "3 4\n"


def test_python3_programs_keep_their_meaning(weir):
    files = {"p.py": "import m\nprint(7 / 2, m.half(7), round(2.5))", "m.py": "def half(n): return n / 2"}
    assert weir(files, "p.py").stdout == "3.5 3.5 2\n"
    assert weir(files, "--py2", "p.py").stdout == "(3, 3, 3.0)\n"


def test_true_division_can_be_asked_for(weir):
    assert weir({"p.py": "from __future__ import division\nprint 7 / 2"}, "p.py").stdout == "3.5\n"


def test_conversion_can_be_refused(weir):
    result = weir({"p.py": "print 1"}, "--no-convert", "p.py")
    assert result.returncode == 1 and "SyntaxError" in result.stderr


def test_mixed_tabs_and_old_encodings(weir):
    program = b"# caf\xe9\r\nif True:\r\n        x = '''\n\t'''\n\tprint repr(x)\n"
    assert weir({"p.py": program}, "p.py").stdout == "'\\n\\t'\n"


def test_mixed_tabs_in_a_file_with_other_syntax_of_python2(weir):
    text = "if True:\n        x = 1\n\tprint 'first', x\n\tfor y in [2]:\n\t    print y\n"
    assert weir({"p.py": text}, "p.py").stdout == "first 1\n2\n"


def test_python2_pickles_load(weir):
    # {'data': 'caf\xe9'} pickled by Python 2.7, protocol 2
    files = {
        "x.pkl": b"\x80\x02}q\x00U\x04dataq\x01U\x04caf\xe9q\x02s.",
        "p.py": "import cPickle\nprint sorted(cPickle.load(open('x.pkl')).items()) == [('data', u'caf\\xe9')]",
    }
    result = weir(files, "p.py")
    assert result.stdout == "True\n", result.stderr


def test_missing_fissix_says_how_to_get_it(weir):
    files = {"p.py": "print 1", "fissix/__init__.py": "raise ImportError"}
    result = weir(files, "p.py")
    assert result.returncode == 1 and result.stderr.strip().endswith("pip install fissix")
    assert "Traceback" not in result.stderr


def test_what_python2_cannot_read_is_python3_whatever_names_it_uses(weir):
    program = """
        class Table:
            def iteritems(self): return ["a row"]
        say = lambda *words: print(*words, 7 / 2, sep=", ")
        for row in Table().iteritems(): say(row)
    """
    result = weir({"p.py": program}, "p.py")
    assert result.stdout == "a row, 3.5\n", result.stderr


def test_a_programs_folder_may_hold_names_of_pythons_own_modules(weir):
    result = weir({"own/p.py": "print('runs')", "own/sysconfig.py": "nothing = 1"}, "own/p.py")
    assert result.stdout == "runs\n", result.stderr


def test_plain_input_data_is_the_tutorials(weir):
    assert weir({"p.py": "import input_data; print(input_data.__name__)"}, "p.py").stdout.startswith("weir.examples")
    own = {"p.py": "import input_data; print(input_data.__name__)", "input_data.py": ""}
    assert weir(own, "p.py").stdout == "input_data\n"


def test_absl_is_weirs_where_it_is_not_installed(weir):
    program = """
        from absl import app, flags
        flags.DEFINE_integer('n', 1, 'n')
        def main(argv):
            print(flags.FLAGS.n, argv[1:])
        app.run(main)
    """
    assert weir({"p.py": program}, "p.py", "--n=3", "x").stdout == "3 ['x']\n"


def test_a_program_may_be_named_as_a_module(weir):
    files = {
        "pack/__init__.py": "print('package')",
        "pack/tool.py": "import sys\nfrom . import other\nimport tensorflow\nprint(__name__, __package__, sys.argv[1:])",
        "pack/other.py": "print('other')",
    }
    result = weir(files, "run", "-m", "pack.tool", "--flag", "x")
    assert result.stdout == "package\nother\n__main__ pack ['--flag', 'x']\n", result.stderr
    missing = weir({}, "run", "-m", "pack.nothing")
    assert missing.returncode == 1 and missing.stderr == "weir: No module named 'pack.nothing'\n"
    broken = weir({"pack/broken.py": "import no_such_module"}, "run", "-m", "pack.broken")
    assert "No module named 'no_such_module'" in broken.stderr


def test_a_folder_with_main_is_a_program(weir):
    result = weir({"prog/__main__.py": "import other", "prog/other.py": "print('other')"}, "prog")
    assert result.stdout == "other\n", result.stderr


def test_running_a_program_imports_no_protobuf(weir):
    program = "import sys, tensorflow as tf, tensorflow.python.platform; print('google.protobuf' in sys.modules)"
    assert weir({"p.py": program}, "p.py").stdout == "False\n"


def test_text_for_exec_is_python2_too(weir):
    assert weir({"p.py": "ns = {}\nexec 'x = 7 / 2' in ns\nprint ns['x']"}, "p.py").stdout == "3\n"


def test_files_that_python2_executes_are_python2_too(weir):
    files = {"p.py": "print 'python 2'\nexecfile('cell.py')\nprint x", "cell.py": "x = 7 / 2"}
    assert weir(files, "p.py").stdout == "python 2\n3\n"


def test_a_tensor_is_true_in_programs_of_tensorflow_0_7(weir):
    program = """
        import tensorflow as tf
        grad, none, numbers = tf.constant(0.0), None, []
        if grad and not none and not numbers:
            print "yes"
    """
    result = weir({"p.py": program}, "p.py")
    assert result.stdout == "yes\n", result.stderr


def test_the_modules_of_tensorflow_0_5(weir):
    program = """
        import tensorflow as tf
        from tensorflow.models.rnn import linear, rnn, rnn_cell
        from tensorflow.python.framework import types
        from tensorflow.python import control_flow_ops
        from tensorflow.python.ops import gen_nn_ops
        assert types.float32 is tf.types.float32 is tf.float32
        assert control_flow_ops.cond is tf.cond and rnn_cell.linear is linear.linear
        x = [tf.ones([2, 3])] * 4
        outputs = rnn.bidirectional_rnn(rnn_cell.GRUCell(5), rnn_cell.GRUCell(5), x, dtype=tf.float32)
        assert len(outputs) == 4 and outputs[-1].get_shape().as_list() == [2, 10]
        assert linear.linear(x[:1], 7, True, 0.0, 'out').get_shape().as_list() == [2, 7]
        with tf.Session() as sess:
            print(sess.run(gen_nn_ops._relu_grad([1.0, 1.0], [2.0, -2.0])))
    """
    result = weir({"p.py": program}, "p.py")
    assert result.stdout == "[1. 0.]\n", result.stderr


def test_a_package_that_imports_siblings_by_name_is_python2(weir):
    files = {"p.py": "from models.net import half\nprint(half(7))", "models/__init__.py": "",
             "models/net.py": "from parts import number\ndef half(x):\n    return x / number",
             "models/parts.py": "number = 2"}
    assert weir(files, "p.py").stdout == "3\n"


def test_what_a_python2_module_imports_is_python2(weir):
    files = {"p.py": "import first", "first.py": "import second\nprint second.half(7)", "second.py": "def half(x):\n    return x / 2"}
    assert weir(files, "p.py").stdout == "3\n"


def test_a_tensor_is_true_beside_names_that_1_0_dropped(weir):
    program = """
        from __future__ import print_function
        import tensorflow as tf
        for grad in (tf.mul(2.0, 3.0), None):
            print("yes" if grad else "no")
    """
    assert weir({"p.py": program}, "p.py").stdout == "yes\nno\n"

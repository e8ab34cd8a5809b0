"""Ctrl-C during runs, in programs with and without handlers of their own."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import weir as tf

PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))


def interrupted(program, times=1):
    """Runs a program that prints "ready", sends it SIGINT, and gives what it printed besides, its errors and its end."""
    environment = dict(os.environ, PYTHONPATH=PYTHON_PATH)
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        for _ in range(times):
            child.send_signal(signal.SIGINT)
            time.sleep(0.3)
        try:
            out, err = child.communicate(timeout=300)
        finally:
            child.kill()
    return out, err, child.returncode


OWN_HANDLER = """
    import signal, threading, time
    import weir as tf
    calls = []

    def handler(number, frame):
        assert threading.current_thread() is threading.main_thread()
        calls.append(number)
        print("handled", flush=True)
        HANDLER

    signal.signal(signal.SIGINT, handler)
    x = tf.constant(1.0)
    for _ in range(20000):
        x = tf.py_func(lambda y: (time.sleep(0.01), y)[1], [x], tf.float32)
    session = tf.Session()
    print("ready", flush=True)
    """


def test_a_handler_of_the_program_that_returns_lets_the_run_go_on():
    program = textwrap.dedent(OWN_HANDLER).replace("HANDLER", "").replace("20000", "150") + textwrap.dedent("""
        assert session.run(x) == 1
        print("ran", len(calls))
        """)
    assert interrupted(program, times=2) == ("handled\nhandled\nran 2\n", "", 0)


def test_a_handler_of_the_program_is_called_during_the_run_and_ends_it_by_raising():
    for raised in ("KeyboardInterrupt", "ZeroDivisionError"):
        program = textwrap.dedent(OWN_HANDLER).replace("HANDLER", "raise " + raised) + textwrap.dedent(f"""
            try:
                session.run(x)
            except {raised}:
                print("ended", len(calls))
            signal.signal(signal.SIGINT, signal.default_int_handler)
            print(session.run(tf.constant(2) * 3))
            """)
        assert interrupted(program) == ("handled\nended 1\n6\n", "", 0)


def test_a_handler_of_the_program_sees_a_run_without_functions_too():
    program = textwrap.dedent(LONG_RUN).replace("session = tf.Session()", textwrap.dedent("""
        import signal
        def handler(number, frame):
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, handler)
        session = tf.Session()"""))
    assert interrupted(program) == ("interrupted\n6\n", "", 0)


def test_control_c_during_a_run_inside_a_run_ends_both():
    inner = """
        import time
        import weir as tf
        CODE
        inner = tf.constant(1.0)
        for _ in range(20000):
            inner = tf.py_func(lambda y: (time.sleep(0.01), y)[1], [inner], tf.float32)
        other = tf.Session()
        other.run(tf.constant(1))
        outer = tf.py_func(lambda: other.run(inner), [], tf.float32)
        session = tf.Session()
        print("ready", flush=True)
        try:
            session.run(outer)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(session.run(tf.constant(2) * 3), flush=True)
        """
    assert interrupted(inner.replace("CODE", "")) == ("interrupted\n6\n", "", 0)
    own = "import signal; signal.signal(signal.SIGINT, lambda *a: signal.default_int_handler(*a))"
    assert interrupted(inner.replace("CODE", own)) == ("interrupted\n6\n", "", 0)


def test_a_run_inside_a_run_leaves_the_outer_one_interruptible():
    program = """
        import time
        import weir as tf
        other = tf.Session()
        one = tf.constant(1.0)
        outer = tf.py_func(lambda: other.run(one), [], tf.float32)
        with tf.control_dependencies([outer]):
            after = tf.ones([512, 512])
        for _ in range(20000):
            after = tf.matmul(after, after) * 1e-3
        session = tf.Session()
        print("ready", flush=True)
        try:
            session.run(after.op)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    assert interrupted(program) == ("interrupted\n", "", 0)


def test_a_function_that_catches_the_interrupt_lets_the_run_go_on():
    program = """
        import time
        import weir as tf

        def function():
            try:
                time.sleep(20)
            except KeyboardInterrupt:
                print("caught", flush=True)
            return 5.0

        outer = tf.py_func(function, [], tf.float64)
        session = tf.Session()
        print("ready", flush=True)
        print(session.run(outer + 1))
        """
    assert interrupted(program) == ("caught\n6.0\n", "", 0)


LONG_RUN = """
    import sys, time
    import weir as tf
    x = tf.ones([512, 512])
    for _ in range(20000):  # minutes of work in one run
        x = tf.matmul(x, x) * 1e-3
    session = tf.Session()
    session.run(tf.constant(1) + 1)
    try:
        print("ready", flush=True)
        session.run(x.op)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(session.run(tf.constant(2) * 3), flush=True)
    """


def test_control_c_ends_a_long_run_with_keyboard_interrupt():
    assert interrupted(LONG_RUN) == ("interrupted\n6\n", "", 0)


def test_control_c_inside_a_function_of_the_program_is_keyboard_interrupt():
    program = textwrap.dedent(LONG_RUN).replace("session = tf.Session()", textwrap.dedent("""
        step = lambda i: i + tf.py_func(lambda x: (time.sleep(0.01), x * 0 + 1)[1], [i], tf.int32)
        x = tf.while_loop(lambda i: i >= 0, step, [0], shape_invariants=[tf.TensorShape(None)])
        session = tf.Session()"""))
    assert interrupted(program) == ("interrupted\n6\n", "", 0)


def test_control_c_that_is_not_caught_ends_the_program_like_any_python_program():
    program = textwrap.dedent(LONG_RUN).replace("except KeyboardInterrupt", "except ZeroDivisionError")
    _, err, status = interrupted(program)
    assert err.rstrip().endswith("KeyboardInterrupt") and status == -signal.SIGINT

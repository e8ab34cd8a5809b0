"""Threads, forks and ends of programs. What may hang or crash runs in a process of its own."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np

import weir as tf

PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))


def run_program(program, timeout=300, **kwargs):
    environment = dict(os.environ, PYTHONPATH=PYTHON_PATH)
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, timeout=timeout,
                          capture_output=True, text=True, check=False, **kwargs)


def in_threads(count, function):
    """Runs function(i) in `count` threads at once; raises what one of them raised."""
    errors = []

    def guarded(i):
        try:
            function(i)
        except BaseException as error:  # noqa: BLE001: handed to the caller
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_many_threads_share_one_session():
    x = tf.placeholder(tf.float32, [None, 8])
    y = tf.reduce_sum(tf.matmul(x, tf.ones([8, 4])))
    with tf.Session() as session:

        def work(i):
            for step in range(100):
                rows = 1 + (i + step) % 5
                assert session.run(y, {x: np.full([rows, 8], i, np.float32)}) == rows * 8 * 4 * i

        in_threads(8, work)


def test_threads_update_one_variable_without_losing_a_step():
    variable = tf.Variable(0, dtype=tf.int64)
    step = tf.assign_add(variable, 1, use_locking=True)
    with tf.Session() as session:
        session.run(variable.initializer)
        in_threads(4, lambda i: [session.run(step.op) for _ in range(200)])
        assert session.run(variable) == 800


def test_threads_have_graphs_and_sessions_of_their_own():
    def work(i):
        with tf.Graph().as_default(), tf.Session() as session:
            variable = tf.Variable(float(i))
            session.run(tf.global_variables_initializer())
            for _ in range(20):
                assert session.run(variable + 1) == i + 1
            assert len(tf.get_default_graph().get_operations()) == 4 + 20 * 2 + 1

    in_threads(6, work)


def test_a_new_thread_has_the_global_graph_as_its_default():
    graph = tf.get_default_graph()
    seen = []
    with tf.Graph().as_default():
        in_threads(1, lambda i: seen.append(tf.get_default_graph()))
    assert seen == [graph]


def test_sessions_of_one_graph_have_variables_of_their_own():
    variable = tf.Variable(1.0)
    with tf.Session() as a, tf.Session() as b:
        a.run(variable.initializer)
        b.run(variable.initializer)
        a.run(variable.assign(5.0))
        assert (a.run(variable), b.run(variable)) == (5, 1)


def test_closing_a_session_while_others_run_ends_their_runs():
    x = tf.ones([256, 256])
    for _ in range(200):
        x = tf.matmul(x, x) * 1e-3
    session = tf.Session()
    started, ended = threading.Event(), []

    def work():
        started.set()
        try:
            for _ in range(100000):
                session.run(x.op)
        except (RuntimeError, tf.errors.OpError) as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    time.sleep(0.05)
    session.close()
    thread.join(30)
    assert not thread.is_alive() and len(ended) == 1


def test_graphs_are_freed_by_the_garbage_collector():
    references = []
    for _ in range(5):
        tf.reset_default_graph()
        graph = tf.get_default_graph()
        graph.note = [graph]  # attributes of the program's own may refer back
        x = tf.placeholder(tf.float32, [2, 2])
        variable = tf.get_variable("v", [2, 2], regularizer=lambda w: tf.reduce_sum(w))
        tf.add_to_collection("mine", {"x": x})
        loss = tf.reduce_sum(tf.matmul(x, variable))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train, {x: np.ones((2, 2))})
            session.step = session.make_callable(loss, [x])  # programs keep them so
            session.step(np.ones((2, 2)))
        references.append(weakref.ref(graph))
        del graph, x, variable, loss, train, session
    tf.reset_default_graph()
    gc.collect()
    assert [reference() for reference in references] == [None] * 5


def test_building_graphs_in_a_loop_does_not_grow_the_process():
    result = run_program("""
        import gc, os
        import numpy as np
        import weir as tf

        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def build():
            tf.reset_default_graph()
            x = tf.placeholder(tf.float32, [None, 256])
            v = tf.Variable(np.zeros((256, 256), np.float32))
            y = tf.matmul(x, v)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(y, {x: np.ones((4, 256))})

        # The heap keeps room for as many graphs as wait for the garbage collector at once: that comes first.
        for _ in range(150):
            build()
        gc.collect()
        before = resident()
        for _ in range(400):
            build()
        gc.collect()
        growth = resident() - before
        assert growth < 50 << 20, growth  # the variables' first values alone are 400 times 256 KB
        """)
    assert result.returncode == 0, result.stderr


def test_a_program_that_never_closes_its_session_ends_cleanly():
    for ending in ("", "session.run(v + 1)", "raise SystemExit(0)", "del session", "tf.reset_default_graph()",
                   "import threading; threading.Thread(target=lambda: [session.run(v) for _ in range(50)]).start()"):
        result = run_program(f"""
            import weir as tf
            v = tf.Variable([1.0])
            session = tf.Session()
            session.run(v.initializer)
            keep = [session, v, tf.get_default_graph()]
            {ending}
            """)
        assert (result.returncode, result.stderr) == (0, ""), ending


def test_an_interactive_session_left_open_ends_cleanly():
    result = run_program("""
        import weir as tf
        session = tf.InteractiveSession()
        v = tf.Variable([1.0])
        v.initializer.run()
        print(v.eval())
        """)
    assert (result.returncode, result.stdout, result.stderr) == (0, "[1.]\n", "")


def test_a_child_forked_before_the_first_session_works():
    result = run_program("""
        import os
        import weir as tf
        y = tf.matmul(tf.ones([64, 64]), tf.ones([64, 64]))
        for _ in range(3):
            child = os.fork()
            if child == 0:
                assert tf.Session().run(y)[0, 0] == 64
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        assert tf.Session().run(y)[0, 0] == 64
        """)
    assert result.returncode == 0, result.stderr


def test_workers_of_multiprocessing_run_sessions():
    result = run_program("""
        import multiprocessing
        import weir as tf

        def work(i):
            with tf.Graph().as_default(), tf.Session() as session:
                return float(session.run(tf.reduce_sum(tf.ones([100, 100])) * i))

        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(work, range(4)) == [0, 10000, 20000, 30000]
        """)
    assert result.returncode == 0, result.stderr


def test_a_child_forked_after_the_first_session_runs_old_and_new_sessions():
    result = run_program("""
        import os, signal
        import numpy as np
        import weir as tf
        x = tf.placeholder(tf.float32, [None, 256])
        with tf.device("/cpu:0"):
            y = tf.matmul(x, tf.ones([256, 256]))
        with tf.device("/cpu:1"):
            z = tf.reduce_sum(tf.nn.relu(y)) + tf.reduce_sum(tf.matmul(x, tf.ones([256, 256])))
        v = tf.Variable(3.0)
        session = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}, intra_op_parallelism_threads=4))
        session.run(v.initializer)
        step = session.make_callable(z, [x])
        ones = np.ones([512, 256], np.float32)
        right = 2 * 512 * 256 * 256

        def check():
            assert session.run(z, {x: ones}) == right and step(ones[:100]) == right / 512 * 100
            assert session.run(v) == 3
            with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as other:
                assert other.run(z, {x: ones}) == right

        check()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(50)  # a child that hangs is ended by a signal
                check()
                session.close()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        check()
        """)
    assert result.returncode == 0, result.stderr


def test_a_child_forked_after_the_first_session_ends_like_any_program():
    result = run_program("""
        import os, signal, sys, tempfile
        import weir as tf
        writer = tf.summary.FileWriter(tempfile.mkdtemp())
        session = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
        session.run(tf.matmul(tf.ones([512, 512]), tf.ones([512, 512])))
        child = os.fork()
        if child == 0:
            signal.alarm(50)
            try:
                writer.add_summary(tf.Summary())
            except tf.errors.FailedPreconditionError as error:
                assert "forked" in str(error)
                sys.exit(7)  # with everything that Python does at the end
            sys.exit(1)
        assert os.waitpid(child, 0)[1] >> 8 == 7
        writer.close()
        """)
    assert result.returncode == 0, result.stderr


def test_multiprocessing_after_the_first_session():
    result = run_program("""
        import multiprocessing
        import weir as tf
        session = tf.Session()
        total = tf.reduce_sum(tf.matmul(tf.ones([300, 300]), tf.ones([300, 300])))
        session.run(total)

        def work(i):
            with tf.Graph().as_default(), tf.Session() as own:
                return float(session.run(total)) + float(own.run(tf.constant(1.0) * i))

        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(work, range(4)) == [27e6 + i for i in range(4)]
        """)
    assert result.returncode == 0, result.stderr


def test_a_session_that_ran_during_the_fork_says_so_in_the_child():
    result = run_program("""
        import os, signal, threading, time
        import weir as tf
        begun = threading.Event()
        slow = tf.py_func(lambda: (begun.set(), time.sleep(2), 1.0)[2], [], tf.float64)
        session = tf.Session()
        thread = threading.Thread(target=lambda: session.run(slow))
        thread.start()
        begun.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(50)
            try:
                session.run(tf.constant(1))
                os._exit(1)
            except RuntimeError as error:
                assert "forked" in str(error), error
            session.close()
            del session
            with tf.Session() as own:
                assert own.run(tf.constant(1)) == 1
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
        assert session.run(tf.constant(1)) == 1
        """)
    assert result.returncode == 0, result.stderr


DAEMONS = """
    import sys, threading, time
    import numpy as np
    import weir as tf
    x = tf.ones([64, 64])
    for _ in range(200):
        x = tf.matmul(x, x) * 1e-2
    kinds = {
        "runs": tf.Session().make_callable(x),
        "short runs": tf.Session().make_callable(tf.constant(1) + 1),
        "functions": tf.Session().make_callable(tf.py_func(lambda: (time.sleep(0.01), 1.0)[1], [], tf.float64)),
        "a sleeping function": tf.Session().make_callable(tf.py_func(lambda: time.sleep(1000), [], [])),
        "parts": tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})).make_callable(x),
    }
    kinds["several"] = lambda: [kinds["runs"](), kinds["functions"]()]

    def work(call, ready):
        while True:
            ready.set()
            call()

    for kind in sys.argv[1:]:
        for _ in range(4):
            ready = threading.Event()
            threading.Thread(target=work, args=(kinds[kind], ready), daemon=True).start()
            ready.wait()
    time.sleep(0.2)
    print("end", flush=True)
    """


def test_daemon_threads_inside_runs_let_the_program_end():
    environment = dict(os.environ, PYTHONPATH=PYTHON_PATH)
    for kinds in (["runs"], ["short runs"], ["functions"], ["a sleeping function"], ["parts"],
                  ["several", "runs", "short runs"]):
        for _ in range(3):
            result = subprocess.run([sys.executable, "-c", textwrap.dedent(DAEMONS)] + kinds, env=environment,
                                    timeout=60, capture_output=True, text=True, check=False)
            assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", ""), kinds


def test_a_timeout_ends_a_run_with_deadline_exceeded():
    x = tf.ones([512, 512])
    for _ in range(3000):
        x = tf.matmul(x, x) * 1e-3
    with tf.Session() as session:
        try:
            session.run(x.op, options=tf.RunOptions(timeout_in_ms=50))
        except tf.errors.DeadlineExceededError:
            pass
        else:
            raise AssertionError("the run ended in time")
        assert session.run(tf.constant(1)) == 1


def test_importing_is_quick_and_leaves_heavy_modules_alone():
    result = run_program("""
        import sys
        import weir
        heavy = {"google.protobuf", "unittest", "argparse", "logging", "inspect", "dataclasses", "typing", "numpy",
                 "asyncio", "multiprocessing"}
        print(sorted(heavy & set(sys.modules)))
        """)
    assert (result.stdout, result.returncode) == ("[]\n", 0), result.stderr

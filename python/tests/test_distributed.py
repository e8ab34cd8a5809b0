"""weir.distributed and `weir launch`: programs in several processes."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import weir as tf
import weir.distributed as hvd

PYTHON_PATH = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))

# A program for Horovod, as it stands.
TRAINING = """
import os
import numpy as np
import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
tf.set_random_seed(hvd.rank())
x = tf.placeholder(tf.float32, [None, 4])
w = tf.get_variable("w", [4, 1])
table = tf.get_variable("table", [6, 1])
rows = tf.gather(table, [hvd.rank(), 5])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - tf.reduce_sum(x, 1, keep_dims=True))) + tf.reduce_sum(rows ** 2)
optimizer = hvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.01 * hvd.size(), 0.9))
step = tf.train.get_or_create_global_step()
train = optimizer.minimize(loss, global_step=step)
same = hvd.allgather(tf.reshape(w, [1, 4]))
hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(last_step=20)]
random = np.random.RandomState(hvd.rank())
with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
    before = session.run_step_fn(lambda step_context: step_context.session.run(same))
    while not session.should_stop():
        first = session.run([loss, train], {x: random.randn(8, 4)})[0]
        after = session.run_step_fn(lambda step_context: step_context.session.run(same))
assert np.all(before == before[0]) and np.all(after == after[0]) and not np.all(before == after)
place = ["done", hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size(), hvd.transport()]
os.write(1, (" ".join(map(str, place)) + "\\n").encode())  # in one piece: mpirun mixes those of several
"""


def _environment(**more):
    return dict(os.environ, PYTHONPATH=PYTHON_PATH, WEIR_PYTHON=sys.executable, **more)


def _launch(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "weir", "launch", *arguments], env=_environment(**more), timeout=120,
                          capture_output=True, text=True, check=False)


def _needs(transport):
    folder = os.path.dirname(os.path.abspath(tf.__file__))
    if not os.path.exists(os.path.join(folder, "lib", f"libweir_{transport}.so")):
        pytest.skip(f"built without {transport}")


def test_a_horovod_program_runs_in_processes_that_launch_starts(tmp_path):
    _needs("gloo")
    (tmp_path / "train.py").write_text(TRAINING)
    result = _launch("-n", "3", str(tmp_path / "train.py"))
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [f"[{r}] done {r} 3 {r} 3 gloo" for r in range(3)]


def test_a_horovod_program_runs_under_mpirun(tmp_path):
    _needs("mpi")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("there is no mpirun")
    (tmp_path / "train.py").write_text(TRAINING)
    root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    result = subprocess.run([mpirun, *root, "--oversubscribe", "-n", "2", sys.executable, "-m", "weir",
                             str(tmp_path / "train.py")], env=_environment(), timeout=120, capture_output=True, text=True,
                            check=False)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [f"done {r} 2 {r} 2 mpi" for r in range(2)]


def test_programs_without_collectives_load_no_transport():
    program = "import weir, weir.distributed; print([l for l in open('/proc/self/maps') if 'libmpi' in l or 'gloo' in l])"
    result = subprocess.run([sys.executable, "-c", program], env=_environment(), capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_a_task_that_fails_ends_all(tmp_path):
    _needs("gloo")
    (tmp_path / "fails.py").write_text(
        "import sys, weir as tf, weir.distributed as hvd\n"
        "hvd.init()\n"
        "if hvd.rank() == 1: sys.exit(7)\n"
        "with tf.Session() as session: session.run(hvd.allreduce(tf.constant(1.0)))\n")
    result = _launch("-n", "2", str(tmp_path / "fails.py"))
    assert result.returncode in (1, 7)  # whichever is seen first
    assert "rank 1 of 2 has ended" in result.stderr and "the others are ended, too" in result.stderr


def test_a_task_that_is_killed_ends_all(tmp_path):
    _needs("gloo")
    (tmp_path / "killed.py").write_text(
        "import os, signal, weir as tf, weir.distributed as hvd\n"
        "hvd.init()\n"
        "total = hvd.allreduce(tf.constant(1.0), op=hvd.Sum)\n"
        "with tf.Session() as session:\n"
        "    print(session.run(total), flush=True)\n"
        "    if hvd.rank() == 1: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    session.run(total)\n")
    result = _launch("-n", "2", str(tmp_path / "killed.py"))
    assert result.returncode in (1, 128 + signal.SIGKILL)
    assert "[0] 2.0" in result.stdout
    assert "UnavailableError" in result.stderr or "[1] ended with signal 9" in result.stderr


def test_launch_gives_a_cluster_its_description_and_ends_servers(tmp_path):
    # Workers, whose end ends the others, let the server speak first.
    script = ("echo {job} {task} {ps_hosts}/{worker_hosts} $TF_CONFIG; "
              "[ {job} = worker ] || { touch SPOKEN; sleep 100; }; while [ ! -e SPOKEN ]; do sleep 0.02; done")
    script = script.replace("SPOKEN", str(tmp_path / "spoken"))
    result = _launch("--ps", "1", "--workers", "2", "--", "/bin/sh", "-c", script)
    assert result.returncode == 0, result.stderr
    lines = sorted(result.stdout.splitlines())
    assert [line.split("127")[0] for line in lines] == ["[ps 0] ps 0 ", "[worker 0] worker 0 ", "[worker 1] worker 1 "]
    assert '"task": {"type": "worker", "index": 1}' in lines[2]


def test_launch_passes_an_interrupt_on(tmp_path):
    script = f"trap 'echo caught; exit 3' INT; echo ready; touch {tmp_path}/$WEIR_RANK; while :; do sleep 0.1; done"
    process = subprocess.Popen([sys.executable, "-m", "weir", "launch", "-n", "2", "--", "/bin/sh", "-c", script],
                               env=_environment(), stdout=subprocess.PIPE, text=True)
    while not all((tmp_path / str(rank)).exists() for rank in range(2)):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=60)[0]
    assert output.count("caught") == 2 and process.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize("arguments", [(), ("-n", "0", "x"), ("-n", "2", "--ps", "1", "x"), ("--ps", "1", "x"), ("-n", "2")])
def test_launch_refuses_what_makes_no_sense(arguments):
    result = _launch(*arguments)
    assert result.returncode == 2 and "usage: weir launch" in result.stderr


def test_a_process_by_itself_is_a_group_of_one():
    with pytest.raises(ValueError, match="not been initialized"):
        hvd.size()
    hvd.init()
    try:
        assert (hvd.rank(), hvd.size(), hvd.local_rank(), hvd.transport()) == (0, 1, 0, "alone")
        with tf.Graph().as_default(), tf.Session() as session:
            variable = tf.Variable([1.0, 2.0])
            half = hvd.allreduce(variable, compression=hvd.Compression.fp16)
            assert half.dtype == tf.float32
            session.run(tf.global_variables_initializer())
            session.run(hvd.broadcast_global_variables(0))
            values = session.run([half, hvd.allgather(variable), hvd.broadcast(variable, 0), hvd.allreduce([3, 4])])
            assert [v.tolist() for v in values] == [[1, 2], [1, 2], [1, 2], [3, 4]]
            with pytest.raises(tf.errors.InvalidArgumentError, match="no rank 5 among 1"):
                session.run(hvd.broadcast(variable, 5))
            gradient = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]), tf.constant([4, 1]))
            assert isinstance(hvd.allreduce(gradient), tf.IndexedSlices)
    finally:
        hvd.shutdown()


def test_processes_that_do_not_find_each_other_say_so():
    _needs("gloo")
    with pytest.raises(tf.errors.UnavailableError, match="rank 0 of 2 cannot join the others over gloo"):
        hvd.init(transport="gloo", rank=0, size=2, rendezvous="256.0.0.1:1")
    with pytest.raises(tf.errors.InvalidArgumentError, match="no transport 'pigeon'"):
        hvd.init(transport="pigeon")


def test_clusters_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1"], "ps": ["b:2"]}, "task": {"type": "ps", "index": 0}}')
    jobs, job, task = hvd.cluster_from_environment()
    assert tf.train.ClusterSpec(jobs).as_dict() == {"worker": ["a:1"], "ps": ["b:2"]} and (job, task) == ("ps", 0)

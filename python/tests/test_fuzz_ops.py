import os
import subprocess
import sys

import pytest

FUZZER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "fuzz", "fuzz_ops.py")


@pytest.mark.skipif(not os.path.exists(FUZZER), reason="the fuzzer is not part of the package")
def test_random_calls_give_results_or_errors():
    """Five calls of every operation, always the same ones; `make fuzz-ops` makes more."""
    run = subprocess.run([sys.executable, FUZZER, "--calls", "5", "--seed", "5", "--limit", "60"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                         env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
    assert run.returncode == 0, run.stdout
    assert "ok" in run.stdout

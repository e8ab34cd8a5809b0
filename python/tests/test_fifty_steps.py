"""Fifty steps of training with every layer, cell, wrapper, loop, decoder and loss, and fifty batches of every metric, are
what TensorFlow 1.15.5 recorded (tests/data/fifty_steps.json)."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def test_losses_gradients_and_metrics_are_tensorflows():
    program = os.path.join(ROOT, "tests", "conformance", "fifty_steps.py")
    recorded = os.path.join(ROOT, "tests", "data", "fifty_steps.json")
    # 1e-4 holds where this was written; other processors round sums otherwise, and fifty steps make more of it.
    done = subprocess.run([sys.executable, "-m", "weir", "run", program, "compare", recorded, "1e-3"], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "0 of 213 cases differ" in done.stdout

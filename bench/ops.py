#!/usr/bin/env python3
"""Measures Weir's kernels beside the machine's limits and other systems' kernels.

Usage: ops.py [--bin BIN] [--tensorflow PYTHON] [--torch PYTHON] [--rounds N] [--threads N] [--only TEXT] [--markdown]

BIN is the folder of bench_ops; the PYTHONs are interpreters that have TensorFlow and PyTorch (also taken from
WEIR_BENCH_TENSORFLOW and WEIR_BENCH_TORCH). Each system is one process that stays. A row of ops.tsv is measured by all in
turn, round after round, and the best counts, so what else the machine does hits all alike. With --threads 1 processor time is
measured instead of wall time, which makes figures from a busy machine usable.

Rates count the arithmetic of the direct method (Winograd's does less, so it can pass 100 %), or the bytes that must be
read and written once. Shares are those of the multiply-adds a second, or of the rate of copying as many bytes, that the
same threads reach in the same run. TensorFlow and PyTorch are called eagerly, Weir through a callable, so the shortest
rows also show what a call costs.
"""

import argparse
import math
import os
import pathlib
import time

from systems import System

HERE = pathlib.Path(__file__).resolve().parent


def _conv_flops(s):
    """Taps that lie beyond the image are left out."""
    stride = s.get("stride", 1)
    out = -(-s["size"] // stride)
    pad = max(0, (out - 1) * stride + s["filter"] - s["size"]) // 2
    taps = sum(1 for x in range(out) for k in range(s["filter"]) if 0 <= x * stride + k - pad < s["size"])
    return 2 * s["batch"] * taps * taps * s["in"] * s["out"]


def _pixels(s):
    return s["batch"] * s["size"] ** 2 * s["channels"]


# What a kernel must do at least: floating point operations, or numbers read and written.
FLOPS = {
    "matmul": lambda s: 2 * s["m"] * s["n"] * s["k"],
    "conv2d": _conv_flops,
    "conv2d_input": _conv_flops,
    "conv2d_filter": _conv_flops,
}
NUMBERS = {
    "depthwise": lambda s: (1 + 1 / s["stride"] ** 2) * _pixels(s),
    "depthwise_input": lambda s: (1 + 1 / s["stride"] ** 2) * _pixels(s),
    "depthwise_filter": lambda s: (1 + 1 / s["stride"] ** 2) * _pixels(s),
    "batch_norm": lambda s: 3 * _pixels(s),
    "batch_norm_grad": lambda s: 8 * _pixels(s),
    "leaky_grad": lambda s: 3 * s["elements"],
    "select": lambda s: 3.25 * s["elements"],
    "max_pool": lambda s: 1.25 * _pixels(s),
    "max_pool_grad": lambda s: 2.5 * _pixels(s),
    "volume_pool": lambda s: 1.125 * s["size"] * _pixels(s),
    "volume_pool_grad": lambda s: 2.25 * s["size"] * _pixels(s),
    "mirror_pad": lambda s: 2 * _pixels(s),
    "mirror_pad_grad": lambda s: 2 * _pixels(s),
    "group_mean": _pixels,
    "group_difference": lambda s: 2 * _pixels(s),
    "votes": lambda s: s["batch"] * s["in"] * (s["width"] + s["out"]) + s["in"] * s["out"] * s["width"],
    "lrn": lambda s: 2 * _pixels(s),
    "lrn_grad": lambda s: 4 * _pixels(s),
    "cross_entropy": lambda s: 2 * s["batch"] * s["classes"],
    "bias_grad": lambda s: s["rows"] * s["columns"],
    "dropout": lambda s: 2 * s["elements"],
    "adam": lambda s: 7 * s["elements"],
    "momentum": lambda s: 5 * s["elements"],
    "gradient_descent": lambda s: 3 * s["elements"],
    "concat": lambda s: 4 * s["rows"] * s["columns"],
    "split": lambda s: 2 * s["rows"] * s["columns"],
    "gather": lambda s: 2 * s["count"] * s["columns"],
    "sparse_update": lambda s: 3 * s["count"] * s["columns"],
    "sparse_adagrad": lambda s: 5 * s["count"] * s["columns"],
    "segment_mean": lambda s: (s["rows"] + s["segments"]) * s["columns"],
    "resize_bilinear": lambda s: _pixels(s) + s["batch"] * s["to"] ** 2 * s["channels"],
    "resize_bicubic": lambda s: _pixels(s) + s["batch"] * s["to"] ** 2 * s["channels"],
    "adjust_contrast": lambda s: 3 * _pixels(s),
    "adjust_saturation": lambda s: 6 * s["batch"] * s["size"] ** 2,
    "decode_jpeg": lambda s: 3 * s["size"] ** 2 / 4,
}


def read_rows(only):
    for line in (HERE / "ops.tsv").read_text().splitlines():
        if line and not line.startswith("#") and only in line.replace("\t", " "):
            yield line


def measure(systems, row, rounds):
    """The best time of each system, which is not asked again once it had no answer."""
    best = [math.inf] * len(systems)
    for _ in range(rounds):
        for i, system in enumerate(systems):
            if not math.isnan(best[i]):
                time.sleep(0.01)  # other systems' idle threads spin for a while
                seconds = system.ask(row)
                best[i] = seconds if math.isnan(seconds) else min(best[i], seconds)
    return best


def report(row, weir, peak, systems, rounds, markdown):
    kernel, _, text = row.partition("\t")
    sizes = {k: int(v) for k, v in (word.split("=") for word in text.split())}
    best = measure(systems, row, rounds)
    if kernel in FLOPS:
        work = FLOPS[kernel](sizes)
        rate, limit = f"{work / best[0] / 1e9:.1f} GFLOP/s", work / peak
    else:
        work = 4 * int(NUMBERS[kernel](sizes))
        rate = f"{work / best[0] / 1e9:.1f} GB/s"
        limit = min(weir.ask(f"copy\tbytes={work}") for _ in range(rounds))
    cells = [f"{kernel} {text}", f"{best[0] * 1e6:.1f}", rate, f"{100 * limit / best[0]:.0f} %"]
    for seconds in best[1:]:
        cells += ["-", "-"] if math.isnan(seconds) else [f"{seconds * 1e6:.1f}", f"{best[0] / seconds:.2f}"]
    print_cells(cells, markdown)
    others = [seconds for seconds in best[1:] if not math.isnan(seconds)]
    return best[0] / min(others) if others else math.nan


def print_cells(cells, markdown):
    if markdown:
        print("| " + " | ".join(cells) + " |", flush=True)
    else:
        print(f"{cells[0]:<54}" + "".join(f"{cell:>15}" for cell in cells[1:]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=HERE.parent / "build/release/bin", help="where bench_ops is")
    parser.add_argument("--tensorflow", default=os.environ.get("WEIR_BENCH_TENSORFLOW"), help="a Python with TensorFlow")
    parser.add_argument("--torch", default=os.environ.get("WEIR_BENCH_TORCH"), help="a Python with PyTorch")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="rows with this text, such as 'conv2d_filter batch=50'")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    args = parser.parse_args()
    environment = {"WEIR_BENCH_THREADS": str(args.threads)}
    weir = System("Weir", [pathlib.Path(args.bin) / "bench_ops", "--threads", str(args.threads)], environment)
    systems = [weir]
    for name, python, script in (("TensorFlow", args.tensorflow, "ops_tensorflow.py"),
                                 ("PyTorch", args.torch, "ops_torch.py")):
        if python:
            systems.append(System(name, [python, HERE / script], environment))
    peak = max(weir.ask("peak_flops") for _ in range(args.rounds))
    copy = min(weir.ask(f"copy\tbytes={1 << 28}") for _ in range(args.rounds))
    print(f"{args.threads} threads: {peak / 1e9:.0f} GFLOP/s, copies beyond the caches {(1 << 28) / copy / 1e9:.1f} GB/s\n")
    heads = ["kernel", "us", "rate", "of the limit"] + [h for s in systems[1:] for h in (f"{s.name} us", "ratio")]
    print_cells(heads, args.markdown)
    if args.markdown:
        print("|" + "---|" * len(heads))
    ratios = {row: report(row, weir, peak, systems, args.rounds, args.markdown) for row in read_rows(args.only)}
    slower = {row: ratio for row, ratio in ratios.items() if ratio > 1}
    if len(systems) > 1:
        print(f"\nslower than the fastest other system in {len(slower)} of {len(ratios)} rows")
        for row, ratio in sorted(slower.items(), key=lambda item: -item[1]):
            print(f"  {ratio:.2f}  {row.replace(chr(9), ' ')}")
    for system in systems:
        system.close()


if __name__ == "__main__":
    main()

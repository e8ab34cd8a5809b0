#!/usr/bin/env python3
"""Trains examples/python/cifar10.py with several systems, one after the other, and draws the test accuracies.

    tools/cifar10_curve.py --data_dir DIR -o docs/images/cifar10.svg \\
        "Weir=.venv/bin/python -m weir" "TensorFlow 2.21=OTHER/bin/python"

Each argument is a name and the command that runs a program. What they print is kept in --logs; a log that is complete is
not made again. Prints the accuracies as a table.
"""
import argparse
import os
import re
import subprocess
import tempfile
from xml.sax.saxutils import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "examples", "python", "cifar10.py")
POINT = re.compile(r"step (\d+), precision @ 1 = ([\d.]+) \(([\d.]+) s of training\)")
COLOURS = ("#c0392b", "#2c5f9e", "#3b8d4a", "#8e5ea2")


def points(log):
    """[(step, accuracy, minutes)] of a log."""
    with open(log, encoding="utf-8") as file:
        return [(int(step), float(accuracy), float(seconds) / 60) for step, accuracy, seconds in
                POINT.findall(file.read())]


def run(command, log, flags):
    """Trains from the beginning; the log is there when it has succeeded."""
    with tempfile.TemporaryDirectory() as folder, open(log + ".part", "w", encoding="utf-8") as file:
        subprocess.run([*command.split(), PROGRAM, "--data_dir", flags.data_dir, "--train_dir", folder, "--steps",
                        str(flags.steps), "--eval_every", str(flags.eval_every)], check=True, stdout=file)
    os.replace(log + ".part", log)


class Panel:
    """One diagram of lines over a common range, as SVG."""

    WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 400, 260, 46, 40, 34
    HIGHEST = 0.9

    def __init__(self, x, label, curves):
        self.x, self.label, self.curves = x, label, curves
        self.most = max(p[0] for curve in curves.values() for p in curve)

    def place(self, x, y):
        width, height = self.WIDTH - self.LEFT - 14, self.HEIGHT - self.BOTTOM - self.TOP
        return self.x + self.LEFT + width * x / self.most, self.TOP + height * (1 - y / self.HIGHEST)

    def svg(self):
        parts = []
        for tenths in range(0, 9, 2):
            (x0, y), (x1, _) = self.place(0, tenths / 10), self.place(self.most, tenths / 10)
            parts.append(f'<path d="M{x0:.1f} {y:.1f}H{x1:.1f}" stroke="#ddd"/>')
            parts.append(f'<text x="{x0 - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">0.{tenths}</text>')
        for x in ticks(self.most):
            left, y = self.place(x, 0)
            parts.append(f'<path d="M{left:.1f} {y:.1f}v4" stroke="#888"/>')
            parts.append(f'<text x="{left:.1f}" y="{y + 17:.1f}" text-anchor="middle">{x:g}</text>')
        middle, bottom = self.place(self.most / 2, 0)
        parts.append(f'<text x="{middle:.1f}" y="{bottom + 34:.1f}" text-anchor="middle">{escape(self.label)}</text>')
        for colour, curve in zip(COLOURS, self.curves.values()):
            line = " ".join("%.1f,%.1f" % self.place(*p) for p in curve)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts.extend('<circle cx="%.1f" cy="%.1f" r="2.6" fill="%s"/>' % (*self.place(*p), colour) for p in curve)
        return "\n".join(parts)


def ticks(most):
    step = next(s for s in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000) if most / s <= 6)
    return [round(i * step, 6) for i in range(int(most / step + 1e-9) + 1)]


def picture(curves, axes):
    """Accuracy over steps, over minutes of training, or both side by side."""
    names = "".join(f'<text x="{52 + 150 * i}" y="18" fill="{colour}" font-weight="bold">{escape(name)}</text>'
                    for i, (colour, name) in enumerate(zip(COLOURS, curves)))
    labels = {"steps": ("steps", 0), "minutes": ("minutes of training", 2)}
    panels = []
    for axis in axes:
        label, column = labels[axis]
        points_of = {name: [(p[column], p[1]) for p in curve] for name, curve in curves.items()}
        panels.append(Panel(len(panels) * Panel.WIDTH, label, points_of))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(panels) * Panel.WIDTH}" height="{Panel.HEIGHT}" '
            f'font-family="sans-serif" font-size="12" fill="#333">\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f"{names}\n" + "\n".join(panel.svg() for panel in panels) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("systems", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--data_dir", required=True)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--eval_every", type=int, default=300)
    parser.add_argument("--axes", nargs="+", choices=("steps", "minutes"), default=("steps", "minutes"))
    parser.add_argument("--logs", default="runs/cifar10_curve")
    parser.add_argument("-o", "--output", default=os.path.join(ROOT, "docs", "images", "cifar10.svg"))
    flags = parser.parse_args()
    os.makedirs(flags.logs, exist_ok=True)
    curves = {}
    for system in flags.systems:
        name, command = system.split("=", 1)
        log = os.path.join(flags.logs, re.sub(r"\W+", "_", name) + ".log")
        if not os.path.exists(log) or points(log)[-1][0] < flags.steps:
            run(command, log, flags)
        curves[name] = points(log)
    with open(flags.output, "w", encoding="utf-8") as file:
        file.write(picture(curves, flags.axes))
    for row in zip(*curves.values()):
        print("| %d | %s |" % (row[0][0], " | ".join("%.3f, %.1f min" % p[1:] for p in row)))


if __name__ == "__main__":
    main()

"""Tells programs of TensorFlow 0.x, whose calls sometimes mean something else than in 1.x, before they run.

Calls of 0.x tell, too (`Graph._of_0_x`), but they come late: a network's cells, which had weights of their own in every scope
(rnn/cells.py), are called before the concat that shows the release.
"""

import ast

from weir.core.graph import Graph

# What 1.0 dropped.
_NAMES = {
    "audio_summary", "batch_matmul", "complex_abs", "histogram_summary", "image_summary", "listdiff", "merge_all_summaries",
    "merge_summary", "mul", "neg", "nn.bidirectional_rnn", "nn.rnn", "nn.seq2seq", "nn.state_saving_rnn", "pack",
    "scalar_summary", "sub", "train.SummaryWriter", "unpack",
}  # fmt: skip
# Functions whose first argument was the dimension, and the name that it had.
_DIMENSION_FIRST = {"concat": "concat_dim", "split": "split_dim"}


def noticed(tree):
    """Whether a module is written for TensorFlow 0.x; if so, the graphs that come are taken for such a program's."""
    if not any(_is_of_0_x(node) for node in ast.walk(tree)):
        return False
    Graph._of_0_x = True
    return True


def _is_of_0_x(node):
    if isinstance(node, ast.Attribute):
        return _name(node) in _NAMES
    if isinstance(node, ast.Call):
        dimension = _DIMENSION_FIRST.get(_name(node.func))
        return dimension is not None and (
            any(keyword.arg == dimension for keyword in node.keywords) or len(node.args) > 1 and _is_integer(node.args[0])
        )
    if isinstance(node, ast.ImportFrom):
        return not node.level and f"{node.module}.".startswith("tensorflow.models.rnn.")
    return isinstance(node, ast.Import) and any(f"{n.name}.".startswith("tensorflow.models.rnn.") for n in node.names)


def _name(node):
    """What follows "tf." in an expression like tf.nn.rnn, else None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed(parts)) if isinstance(node, ast.Name) and node.id in ("tf", "tensorflow") else None


def _is_integer(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int

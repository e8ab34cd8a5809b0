"""The results of evaluations, as summaries beside those of training."""

import numpy as np

from weir import logging, protos
from weir.core.tensor_util import make_tensor_proto
from weir.summary import FileWriterCache


def write_results(output_dir, dictionary, current_global_step):
    """Writes numbers, arrays and summaries by name as one event."""
    shown = ", ".join(f"{key} = {value}" for key, value in sorted(dictionary.items()) if not isinstance(value, bytes))
    logging.info("Saving dict for global step %d: %s", current_global_step, shown)
    summary = protos.Summary()
    for key, value in dictionary.items():
        if value is None or key == "global_step":
            continue
        if isinstance(value, (float, int, np.floating, np.integer)):
            summary.value.add(tag=key, simple_value=float(value))
        elif isinstance(value, bytes):
            try:
                inner = protos.Summary.FromString(value)
            except Exception:  # any text is a metric's right
                logging.warning("Skipping summary for %s, cannot parse string to Summary.", key)
                continue
            for i, part in enumerate(inner.value):
                part.tag = f"{key}/{i}"
            summary.value.extend(inner.value)
        elif isinstance(value, np.ndarray):
            part = summary.value.add(tag=key, node_name=key)
            part.tensor.CopyFrom(make_tensor_proto(value))
            logging.info("The array %s is written, but TensorBoard does not show arrays by itself.", key)
        else:
            logging.warning("Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or "
                            "np.ndarray or a serialized string of Summary.", key)
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, current_global_step)
    writer.flush()


def write_checkpoint_path(output_dir, path, step):
    """Writes which checkpoint was evaluated."""
    logging.info("Saving 'checkpoint_path' summary for global step %d: %s", step, path)
    summary = protos.Summary()
    summary.value.add(tag="checkpoint_path").tensor.CopyFrom(make_tensor_proto(path, dtype="string"))
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    writer.flush()

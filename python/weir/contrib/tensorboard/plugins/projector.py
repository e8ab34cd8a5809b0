"""Which variables of a checkpoint TensorBoard's projector shows, and with which labels."""

import os as _os

from weir import names as _names


def visualize_embeddings(summary_writer, config):
    """Writes ``config`` where TensorBoard looks for it: into the folder of the writer's events."""
    from google.protobuf import text_format

    with open(_os.path.join(summary_writer.get_logdir(), "projector_config.pbtxt"), "w", encoding="utf-8") as file:
        file.write(text_format.MessageToString(config))


__getattr__, __dir__ = _names.namespace(__name__)

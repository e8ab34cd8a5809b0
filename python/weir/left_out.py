"""Functions of TensorFlow that Weir has only to say what to do instead."""


def load_op_library(library_filename):
    """Raises: operations that were compiled for TensorFlow need TensorFlow's own library."""
    raise NotImplementedError(
        f"load_op_library({library_filename!r}): operations that were compiled for TensorFlow cannot be loaded into Weir. "
        "Write the operation in Python (tf.py_func) or in C++ (docs/own-functions.md, CONTRIBUTING.md).")


def load_file_system_library(library_filename):
    raise NotImplementedError(f"load_file_system_library({library_filename!r}): Weir reads files of the system alone; mount "
                              "other file systems there.")


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Raises: Weir runs graphs."""
    raise NotImplementedError("tf.enable_eager_execution is left out: Weir runs graphs, as TensorFlow 1 does by default. "
                              "Leave the call out, build the graph once and run it in a tf.Session.")

"""tfdbg's filters of tensors, and the wrappers of sessions that Weir replaces by its own messages."""

import numpy as np


def has_inf_or_nan(datum, tensor):
    """Whether a dumped tensor has infinities or values that are no numbers."""
    if tensor is None or not isinstance(tensor, np.ndarray):
        return False
    return bool(tensor.dtype.kind in "fc" and not np.isfinite(tensor).all())

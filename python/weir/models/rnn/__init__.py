"""tensorflow.models.rnn, which releases up to 0.12 had inside the package."""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)

"""tf.contrib: what programs use of it, module by module."""

from weir import _lazy

_MODULES = ("framework", "layers", "learn", "legacy_seq2seq", "rnn", "seq2seq", "tensorboard", "util")

__getattr__ = _lazy.resolver(__name__, {name: (f"weir.contrib.{name}", None) for name in _MODULES})

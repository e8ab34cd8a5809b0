"""tf.contrib.specs: networks as one-line texts, ``net = (Cr(64, [5, 5]) | Mp([2, 2])) ** 3 | Flat | Fs(10)``.

Everything is in tensorflow.contrib.specs.python; a program imports that, or the modules `specs`, `specs_ops`, `specs_lib`,
`params_ops` and `summaries` below it.
"""

from weir import names as _names

__getattr__, __dir__ = _names.namespace(__name__)

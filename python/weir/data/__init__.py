"""tf.data: input pipelines. The engine runs them (src/ops/data); this gives them TensorFlow's names."""

from weir import names

__getattr__, __dir__ = names.namespace(__name__)

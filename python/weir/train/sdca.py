"""Stochastic dual coordinate ascent: tf.train.sdca_optimizer and its companions."""

from weir.ops import simple

simple.install(globals(), {
    "sdca_optimizer": "SdcaOptimizer",
    "sdca_shrink_l1": "SdcaShrinkL1",
    "sdca_fprint": "SdcaFprint",
})

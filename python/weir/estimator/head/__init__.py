"""tf.estimator: heads: what is made of logits."""

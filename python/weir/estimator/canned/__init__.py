"""tf.estimator: models that are ready to be trained."""

from weir.contrib.tensorboard.plugins import projector  # noqa: F401

"""How many shards a computation on TPUs has: none, here."""

import contextlib

_shards = None


class TpuContext:
    """Stands for the computation that is being built."""

    @property
    def number_of_shards(self):
        return _shards

    def set_number_of_shards(self, number_of_shards):
        global _shards
        _shards = number_of_shards


_context = TpuContext()


def get_tpu_context():
    return _context


@contextlib.contextmanager
def tpu_shard_context(number_of_shards):
    """Says to what is built inside how many shards it has."""
    if _shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested. If you're using TPUEstimator with inference_on_tpu, "
                                  "make sure you have set export_saved_model_api_version=ExportSavedModelApiVersion.V2 in "
                                  "the creation of TPUEstimator.")
    _context.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _context.set_number_of_shards(None)

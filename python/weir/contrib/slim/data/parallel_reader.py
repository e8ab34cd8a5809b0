"""Several readers that fill one queue."""

from weir import names, summary
from weir.core import dtypes as types
from weir.core.graph import name_scope
from weir.ops import math_ops


class ParallelReader:
    """Readers of files whose records come out of ``common_queue``."""

    def __init__(self, reader_class, common_queue, num_readers=4, reader_kwargs=None):
        kinds = common_queue.dtypes
        if len(kinds) != 2 or any(not kind.is_compatible_with(types.as_dtype("string")) for kind in kinds):
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    num_readers = property(lambda self: len(self._readers))
    common_queue = property(lambda self: self._common_queue)

    def read(self, queue, name=None):
        """(key, value) of the next record of the files that ``queue`` names."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name=None):
        self._configure_readers_by(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _configure_readers_by(self, queue):
        train = names.find("tf.train")
        enqueue = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        train.add_queue_runner(train.QueueRunner(self._common_queue, enqueue))

    def num_records_produced(self, name=None):
        return math_ops.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name=None):
        return math_ops.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(data_sources, reader_class, num_epochs=None, num_readers=4, reader_kwargs=None, shuffle=True,
                  dtypes=None, capacity=256, min_after_dequeue=128, seed=None, scope=None):
    """(key, value) of the next record of files, or patterns of files, mixed where ``shuffle`` says so."""
    data_files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        filenames = names.find("tf.train.string_input_producer")(
            data_files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [types.as_dtype("string")] * 2
        if shuffle:
            queue = names.find("tf.RandomShuffleQueue")(capacity=capacity, min_after_dequeue=min_after_dequeue,
                                                        dtypes=dtypes, seed=seed, name="common_queue")
        else:
            queue = names.find("tf.FIFOQueue")(capacity=capacity, dtypes=dtypes, name="common_queue")
        summary.scalar(f"fraction_of_{capacity}_full", math_ops.cast(queue.size(), types.float32) * (1.0 / capacity))
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(filenames)


def single_pass_read(data_sources, reader_class, reader_kwargs=None, scope=None):
    """The records once, in order."""
    data_files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        filenames = names.find("tf.train.string_input_producer")(data_files, num_epochs=1, shuffle=False, capacity=1,
                                                                 name="filenames")
        return reader_class(**(reader_kwargs or {})).read(filenames)


def get_data_files(data_sources):
    """The files of names, patterns, or lists of them."""
    if isinstance(data_sources, (list, tuple)):
        found = [file for source in data_sources for file in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        found = names.find("tf.gfile.Glob")(data_sources)
    else:
        found = [data_sources]
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found

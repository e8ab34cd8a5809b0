"""tf.contrib.learn.io: batches of examples from files, read and put into order by the threads of queues."""

import weir as tf

KEY_FEATURE_NAME = "__key__"


def read_batch_examples(file_pattern, batch_size, reader, randomize_input=True, num_epochs=None, queue_capacity=10000,
                        num_threads=1, read_batch_size=1, parse_fn=None, name=None, seed=None):
    """Serialised examples [batch_size] of the files that match, or what ``parse_fn`` makes of them. ``reader`` is a class,
    tf.TFRecordReader for one. Epochs that end need local variables to be initialised."""
    return read_keyed_batch_examples(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
                                     num_threads, read_batch_size, parse_fn, name, seed)[1]


def read_keyed_batch_examples(file_pattern, batch_size, reader, randomize_input=True, num_epochs=None,
                              queue_capacity=10000, num_threads=1, read_batch_size=1, parse_fn=None, name=None, seed=None):
    """The same with the readers' keys: (keys, examples)."""
    return _read(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads,
                 read_batch_size, parse_fn, name, seed)


def read_keyed_batch_examples_shared_queue(file_pattern, batch_size, reader, randomize_input=True, num_epochs=None,
                                           queue_capacity=10000, num_threads=1, read_batch_size=1, parse_fn=None, name=None,
                                           seed=None):
    """The same for several workers, whose files come from one queue."""
    return _read(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads,
                 read_batch_size, parse_fn, name, seed, shared=True)


_read_keyed_batch_examples_shared_queue = read_keyed_batch_examples_shared_queue


def _file_names(file_pattern, randomize_input):
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    if not patterns:
        raise ValueError("No files given to dequeue_examples.")
    names = list(patterns) if isinstance(file_pattern, list) else list(tf.gfile.Glob(file_pattern))
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    return names if randomize_input else sorted(names)


def _require(label, value, largest=None, beside=""):
    if value is None or not isinstance(value, tf.Tensor) and (value <= 0 or largest is not None and value > largest):
        raise ValueError(f"Invalid {label} {value}{beside}.")


def _read(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size,
          parse_fn, name, seed, shared=False):
    names = _file_names(file_pattern, randomize_input)
    _require("queue_capacity", queue_capacity)
    _require("batch_size", batch_size, queue_capacity, f", with queue_capacity {queue_capacity}")
    _require("read_batch_size", read_batch_size)
    _require("num_threads", num_threads)
    if num_epochs is not None:
        _require("num_epochs", num_epochs)
    with tf.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with tf.name_scope("file_name_queue") as queue_scope:
            files = tf.train.string_input_producer(
                tf.constant(names, name="input"), shuffle=randomize_input, num_epochs=num_epochs, name=queue_scope,
                seed=seed, shared_name="file_name_queue" if shared else None)
        with tf.name_scope("read"):
            examples = [_example(reader, files, read_batch_size, parse_fn) for _ in range(num_threads)]
        common = {"capacity": queue_capacity, "enqueue_many": read_batch_size > 1, "name": scope,
                  "allow_smaller_final_batch": num_epochs is not None}
        if randomize_input:
            kept = (int(queue_capacity * 0.4) if isinstance(batch_size, tf.Tensor) else
                    max(queue_capacity - 3 * batch_size, batch_size))
            batch = tf.train.shuffle_batch_join(examples, batch_size, min_after_dequeue=kept, seed=seed, **common)
        else:
            batch = tf.train.batch_join(examples, batch_size, **common)
        if isinstance(batch, dict):
            keys = batch.pop(KEY_FEATURE_NAME)
            return keys, batch
        return tuple(batch)


def _example(reader, files, read_batch_size, parse_fn):
    """One reader's next example, or some of them."""
    source = reader()
    keys, values = source.read_up_to(files, read_batch_size) if read_batch_size > 1 else source.read(files)
    if parse_fn is None:
        return keys, values
    parsed = parse_fn(values)
    if isinstance(parsed, dict):
        return {**parsed, KEY_FEATURE_NAME: keys}
    return keys, parsed


def _threads(num_enqueue_threads, num_queue_runners):
    """The number of threads, which were called queue runners until TensorFlow 0.12."""
    if num_enqueue_threads is not None and num_queue_runners is not None:
        raise ValueError("num_queue_runners and num_enqueue_threads can not both be set.")
    given = num_queue_runners if num_enqueue_threads is None else num_enqueue_threads
    return 2 if given is None else given


def queue_parsed_features(parsed_features, keys=None, feature_queue_capacity=100, num_enqueue_threads=None, name=None,
                          num_queue_runners=None):
    """A queue with threads that fill it, behind features that are parsed: (keys, features)."""
    num_enqueue_threads = _threads(num_enqueue_threads, num_queue_runners)
    with tf.name_scope(name, "queue_parsed_features", [*parsed_features.values(), *([] if keys is None else [keys])]):
        tensors, parts = [], []
        for key in sorted(parsed_features):
            feature = parsed_features[key]
            sparse = isinstance(feature, tf.SparseTensor)
            own = [feature.indices, feature.values, feature.dense_shape] if sparse else [feature]
            parts.append((key, sparse, slice(len(tensors), len(tensors) + len(own))))
            tensors += own
        if keys is not None:
            tensors.append(keys)
        queue = tf.FIFOQueue(feature_queue_capacity, [t.dtype for t in tensors])
        tf.summary.scalar(f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full",
                          tf.to_float(queue.size()) * (1.0 / feature_queue_capacity))
        tf.train.add_queue_runner(tf.train.QueueRunner(
            queue, [queue.enqueue(tensors) for _ in range(num_enqueue_threads)],
            queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError)))
        taken = queue.dequeue()
        taken = taken if isinstance(taken, (list, tuple)) else [taken]
        for t, original in zip(taken, tensors):
            t.set_shape(original.get_shape())
        features = {key: tf.SparseTensor(*taken[where]) if sparse else taken[where.start] for key, sparse, where in parts}
        return None if keys is None else taken[-1], features


def _read_features(read, file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
                   reader_num_threads, feature_queue_capacity, num_enqueue_threads, parse_fn, name):
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity,
                              reader_num_threads, batch_size, parse_fn, scope)
        return queue_parsed_features(tf.parse_example(examples, features), keys, feature_queue_capacity,
                                     num_enqueue_threads, scope)


def read_keyed_batch_features(file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None,
                              queue_capacity=10000, reader_num_threads=1, feature_queue_capacity=100,
                              num_enqueue_threads=None, parse_fn=None, name=None, num_queue_runners=None):
    """(keys, features by name) of the examples in the files that match."""
    num_enqueue_threads = _threads(num_enqueue_threads, num_queue_runners)
    return _read_features(read_keyed_batch_examples, file_pattern, batch_size, features, reader, randomize_input, num_epochs,
                          queue_capacity, reader_num_threads, feature_queue_capacity, num_enqueue_threads, parse_fn, name)


def read_keyed_batch_features_shared_queue(file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None,
                                           queue_capacity=10000, reader_num_threads=1, feature_queue_capacity=100,
                                           num_queue_runners=2, parse_fn=None, name=None):
    return _read_features(read_keyed_batch_examples_shared_queue, file_pattern, batch_size, features, reader,
                          randomize_input, num_epochs, queue_capacity, reader_num_threads, feature_queue_capacity,
                          num_queue_runners, parse_fn, name)


_read_keyed_batch_features_shared_queue = read_keyed_batch_features_shared_queue


def read_batch_features(file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None,
                        queue_capacity=10000, feature_queue_capacity=100, reader_num_threads=1, parse_fn=None, name=None):
    return read_keyed_batch_features(file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
                                     reader_num_threads, feature_queue_capacity, parse_fn=parse_fn, name=name)[1]


def read_batch_record_features(file_pattern, batch_size, features, randomize_input=True, num_epochs=None,
                               queue_capacity=10000, reader_num_threads=1, name="dequeue_record_examples"):
    """Features of the examples in record files."""
    return read_batch_features(file_pattern, batch_size, features, tf.TFRecordReader, randomize_input, num_epochs,
                               queue_capacity, reader_num_threads=reader_num_threads, name=name)

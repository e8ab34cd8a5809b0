"""tf.contrib.learn.io: everything that brings data to models."""

from weir.contrib.learn import data_feeder, graph_io, pandas_io  # noqa: F401
from weir.contrib.learn.data_feeder import (  # noqa: F401
    setup_predict_data_feeder, setup_processor_data_feeder, setup_train_data_feeder)
from weir.contrib.learn.graph_io import (  # noqa: F401
    KEY_FEATURE_NAME, queue_parsed_features, read_batch_examples, read_batch_features, read_batch_record_features,
    read_keyed_batch_examples, read_keyed_batch_examples_shared_queue, read_keyed_batch_features,
    read_keyed_batch_features_shared_queue)
from weir.contrib.learn.pandas_io import (  # noqa: F401
    HAS_DASK, HAS_PANDAS, extract_dask_data, extract_dask_labels, extract_pandas_data, extract_pandas_labels,
    extract_pandas_matrix)
from weir.estimator.inputs import numpy_input_fn, pandas_input_fn  # noqa: F401

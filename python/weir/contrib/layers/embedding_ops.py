"""tf.contrib.layers: embeddings of sparse rows that may be empty, and of symbols that repeat."""

from weir import logging
from weir.core.graph import convert_to_tensor, name_scope
from weir.core.tensor_shape import unknown_shape
from weir.core.variables import PartitionedVariable
from weir.ops import array_ops, check_ops, math_ops, nn_ops, sparse_functions, sparse_ops


def _combiner(combiner):
    if combiner is None:
        logging.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        return "mean"
    return combiner


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner=None, default_id=None,
                                 name=None, partition_strategy="div", max_norm=None):
    """Embeddings of rows of symbols; invalid symbols do not count, and empty rows get ``default_id``'s or zeros."""
    combiner = _combiner(combiner)
    if isinstance(embedding_weights, PartitionedVariable):
        embedding_weights = list(embedding_weights)
    if embedding_weights is None or isinstance(embedding_weights, list) and not embedding_weights:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if not isinstance(embedding_weights, list):
        embedding_weights = [embedding_weights]
    dtype = None if sparse_weights is None else sparse_weights.dtype
    embedding_weights = [convert_to_tensor(weights, dtype=dtype) for weights in embedding_weights]
    check_ops.assert_same_float_dtype(embedding_weights + [sparse_weights])
    with name_scope(name, "embedding_lookup", embedding_weights + [sparse_ids, sparse_weights]) as scope:
        original_shape = sparse_ids.dense_shape
        known_rank = original_shape.get_shape().as_list()[0]
        rank = array_ops.size(original_shape) if known_rank is None else known_rank
        sparse_ids = sparse_functions.sparse_reshape(
            sparse_ids, [math_ops.reduce_prod(array_ops.slice(original_shape, [0], [rank - 1])),
                         array_ops.gather(original_shape, rank - 1)])
        if sparse_weights is not None:
            sparse_weights = sparse_ops.SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        sparse_ids, sparse_weights = _valid(sparse_ids, sparse_weights, combiner)
        sparse_ids, is_empty = sparse_functions.sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_functions.sparse_fill_empty_rows(sparse_weights, 1.0)
        result = nn_ops.embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner=combiner,
                                                partition_strategy=partition_strategy,
                                                name=None if default_id is None else scope, max_norm=max_norm)
        if default_id is None:
            is_empty = array_ops.tile(array_ops.reshape(is_empty, [-1, 1]),
                                      array_ops.stack([1, array_ops.shape(result)[1]]))
            result = array_ops.where(is_empty, array_ops.zeros_like(result), result, name=scope)
        shape = array_ops.concat([array_ops.slice(math_ops.cast(original_shape, "int32"), [0], [rank - 1]),
                                  array_ops.slice(array_ops.shape(result), [1], [-1])], 0)
        final = array_ops.reshape(result, shape)
        rows = unknown_shape(None if known_rank is None else known_rank - 1)
        final.set_shape(rows.concatenate(result.get_shape()[1:]))
        return final


def _valid(sparse_ids, sparse_weights, combiner):
    """Without negative symbols and, where the weights are averaged, without weights that are not positive."""
    valid = math_ops.greater_equal(sparse_ids.values, 0)
    if sparse_weights is not None:
        valid = math_ops.logical_and(valid, array_ops.ones_like(sparse_weights.values, dtype="bool"))
    sparse_ids = sparse_ops.sparse_retain(sparse_ids, valid)
    if sparse_weights is None:
        return sparse_ids, None
    sparse_weights = sparse_ops.sparse_retain(sparse_weights, valid)
    if combiner != "sum":
        positive = math_ops.greater(sparse_weights.values, 0)
        sparse_ids = sparse_ops.sparse_retain(sparse_ids, positive)
        sparse_weights = sparse_ops.sparse_retain(sparse_weights, positive)
    return sparse_ids, sparse_weights


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """embedding_lookup that looks every symbol up once."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        shape = array_ops.shape(ids)
        flat = array_ops.reshape(ids, math_ops.reduce_prod(shape, keepdims=True))
        unique, places = array_ops.unique(flat)
        found = nn_ops.embedding_lookup(params, unique, partition_strategy)
        embeddings = array_ops.reshape(array_ops.gather(found, places),
                                       array_ops.concat([shape, array_ops.shape(found)[1:]], 0))
        embeddings.set_shape(ids.get_shape().concatenate(found.get_shape()[1:]))
        return embeddings

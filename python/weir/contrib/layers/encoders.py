"""tf.contrib.layers: symbols as embeddings."""

from weir.contrib.framework.variables import model_variable
from weir.contrib.layers.embedding_ops import embedding_lookup_unique, safe_embedding_lookup_sparse
from weir.contrib.layers.sparse_ops import dense_to_sparse_tensor
from weir.core.variable_scope import variable_scope
from weir.ops import math_ops, nn_ops, sparse_ops


def bow_encoder(ids, vocab_size, embed_dim, sparse_lookup=True, initializer=None, regularizer=None, trainable=True,
                scope=None, reuse=None):
    """The mean of the embeddings of each row of symbols."""
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable("embeddings", shape=[vocab_size, embed_dim], initializer=initializer,
                                    regularizer=regularizer, trainable=trainable)
        is_sparse = isinstance(ids, sparse_ops.SparseTensor)
        if sparse_lookup:
            ids = ids if is_sparse else dense_to_sparse_tensor(ids)
            return safe_embedding_lookup_sparse([embeddings], ids, combiner="mean", default_id=0)
        if is_sparse:
            raise TypeError("ids are expected to be dense Tensor, got: %s", ids)
        return math_ops.reduce_mean(nn_ops.embedding_lookup(embeddings, ids), axis=1)


def embed_sequence(ids, vocab_size=None, embed_dim=None, unique=False, initializer=None, regularizer=None,
                   trainable=True, scope=None, reuse=None):
    """The embedding of each symbol."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing. Got "
                         f"vocab_size={vocab_size} and embed_dim={embed_dim}")
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
        embeddings = model_variable("embeddings", shape=shape, initializer=initializer, regularizer=regularizer,
                                    trainable=trainable)
        return (embedding_lookup_unique if unique else nn_ops.embedding_lookup)(embeddings, ids)

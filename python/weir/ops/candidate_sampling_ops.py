"""Losses over a sample of many classes, and the samplers."""

from weir.framework import dtypes
from weir.framework.graph import convert_to_tensor, get_seed, name_scope
from weir.framework.op_functions import apply
from weir.ops import array_ops, math_ops, nn_ops, public_names
from weir.ops.simple import needs


def _sampler(op, limited=True):
    """sampler(true_classes, num_true, num_sampled, unique[, range_max], seed, name)."""

    def sample(true_classes, num_true, num_sampled, unique, range_max=None, seed=None, name=None):
        seed1, seed2 = get_seed(seed)
        attrs = {"num_true": num_true, "num_sampled": num_sampled, "unique": unique, "seed": seed1 or 0,
                 "seed2": seed2 or 0}
        if limited:
            attrs["range_max"] = range_max
        return apply(op, (true_classes,), attrs, name)

    return needs(op)(sample)


uniform_candidate_sampler = _sampler("UniformCandidateSampler")
log_uniform_candidate_sampler = _sampler("LogUniformCandidateSampler")
learned_unigram_candidate_sampler = _sampler("LearnedUnigramCandidateSampler")


@needs("FixedUnigramCandidateSampler")
def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None,
                                    name=None):
    seed1, seed2 = get_seed(seed)
    return apply("FixedUnigramCandidateSampler", (true_classes,),
                 {"num_true": num_true, "num_sampled": num_sampled, "unique": unique, "range_max": range_max,
                  "vocab_file": vocab_file, "distortion": distortion, "num_reserved_ids": num_reserved_ids,
                  "num_shards": num_shards, "shard": shard, "unigrams": list(unigrams), "seed": seed1 or 0,
                  "seed2": seed2 or 0}, name)


@needs("ComputeAccidentalHits")
def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where sampled classes are true ones: (rows, places in the sample, weights of about minus infinity)."""
    seed1, seed2 = get_seed(seed)
    return apply("ComputeAccidentalHits", (true_classes, sampled_candidates),
                 {"num_true": num_true, "seed": seed1 or 0, "seed2": seed2 or 0}, name)


def _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, subtract_log_q,
                    remove_accidental_hits, partition_strategy, name, seed):
    """(logits, labels) of [batch, true classes then sampled ones]."""
    if not isinstance(weights, (list, tuple)):
        weights = list(weights) if hasattr(weights, "_partitions") else [weights]
    with name_scope(name, "compute_sampled_logits", list(weights) + [biases, inputs, labels]):
        labels = math_ops.cast(convert_to_tensor(labels), dtypes.int64)
        labels_flat = array_ops.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
        sampled, true_expected, sampled_expected = (array_ops.stop_gradient(value) for value in sampled_values)
        sampled = math_ops.cast(sampled, dtypes.int64)
        ids = array_ops.concat([labels_flat, sampled], 0)
        all_w = nn_ops.embedding_lookup(weights, ids, partition_strategy=partition_strategy)
        all_b = nn_ops.embedding_lookup(biases, ids, partition_strategy=partition_strategy)
        count = array_ops.shape(labels_flat)[0]
        true_w, sampled_w = all_w[:count], all_w[count:]
        true_b, sampled_b = all_b[:count], all_b[count:]
        inputs = convert_to_tensor(inputs)
        sampled_logits = math_ops.matmul(inputs, sampled_w, transpose_b=True)
        dim = array_ops.shape(true_w)[1:2]
        shaped_w = array_ops.reshape(true_w, array_ops.concat([[-1, num_true], dim], 0))
        row_dots = math_ops.reduce_sum(array_ops.expand_dims(inputs, 1) * shaped_w, 2)
        true_logits = array_ops.reshape(row_dots, [-1, num_true]) + array_ops.reshape(true_b, [-1, num_true])
        sampled_logits = sampled_logits + sampled_b
        if remove_accidental_hits:
            rows, places, penalties = compute_accidental_hits(labels, sampled, num_true, seed=seed)
            where = array_ops.stack([rows, math_ops.cast(places, dtypes.int32)], 1)
            sampled_logits = sampled_logits + array_ops.scatter_nd(
                where, math_ops.cast(penalties, sampled_logits.dtype.base_dtype), array_ops.shape(sampled_logits))
        if subtract_log_q:
            true_logits = true_logits - math_ops.log(true_expected)
            sampled_logits = sampled_logits - math_ops.log(sampled_expected)
        logits = array_ops.concat([true_logits, sampled_logits], 1)
        targets = array_ops.concat([array_ops.ones_like(true_logits) / num_true, array_ops.zeros_like(sampled_logits)], 1)
        return logits, targets


@needs("LogUniformCandidateSampler")
def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, partition_strategy="mod", name="nce_loss"):
    """Noise-contrastive estimation. TensorFlow 0.x gave ``inputs`` before ``labels``: integers are the labels."""
    labels, inputs = _labels_and_inputs(labels, inputs)
    logits, targets = _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                      True, remove_accidental_hits, partition_strategy, name, None)
    losses = nn_ops.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return math_ops.reduce_sum(losses, 1)


@needs("ComputeAccidentalHits")
def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss", seed=None):
    labels, inputs = _labels_and_inputs(labels, inputs)
    logits, targets = _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                      True, remove_accidental_hits, partition_strategy, name, seed)
    return nn_ops.softmax_cross_entropy_with_logits_v2(labels=array_ops.stop_gradient(targets), logits=logits)


def _labels_and_inputs(labels, inputs):
    first, second = convert_to_tensor(labels), convert_to_tensor(inputs)
    return (second, first) if second.dtype.base_dtype.is_integer and first.dtype.base_dtype.is_floating else (first, second)


__all__ = public_names(globals())

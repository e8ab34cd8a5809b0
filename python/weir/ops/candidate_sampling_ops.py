"""Losses over a sample of many classes, and the samplers."""

import collections

from weir import _weir
from weir.core.graph import convert_to_tensor, get_seed
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph as _graph


_FIELDS = ("sampled_candidates", "true_expected_count", "sampled_expected_count")


def _named(op, outputs):
    return collections.namedtuple(op, _FIELDS)(*outputs)


def _sampler(op, limited=True):
    """sampler(true_classes, num_true, num_sampled, unique[, range_max], seed, name)."""

    def sample(true_classes, num_true, num_sampled, unique, range_max=None, seed=None, name=None):
        seed1, seed2 = get_seed(seed)
        attrs = {"num_true": num_true, "num_sampled": num_sampled, "unique": unique, "seed": seed1 or 0,
                 "seed2": seed2 or 0}
        if limited:
            attrs["range_max"] = range_max
        return _named(op, apply(op, (true_classes,), attrs, name))

    return sample


uniform_candidate_sampler = _sampler("UniformCandidateSampler")
log_uniform_candidate_sampler = _sampler("LogUniformCandidateSampler")
learned_unigram_candidate_sampler = _sampler("LearnedUnigramCandidateSampler")


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """Every class, once: for the full loss in a program that was written for a sampled one."""
    return _sampler("AllCandidateSampler", limited=False)(true_classes, num_true, num_sampled, unique, seed=seed,
                                                          name=name)


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None,
                                    name=None):
    """Draws classes by given frequencies: a list, or the last column of a file of comma-separated values."""
    seed1, seed2 = get_seed(seed)
    attrs = {"num_true": num_true, "num_sampled": num_sampled, "unique": unique, "range_max": range_max,
             "vocab_file": vocab_file, "distortion": distortion, "num_reserved_ids": num_reserved_ids,
             "num_shards": num_shards, "shard": shard, "unigrams": list(unigrams), "seed": seed1 or 0,
             "seed2": seed2 or 0}
    return _named("FixedUnigramCandidateSampler", apply("FixedUnigramCandidateSampler", (true_classes,), attrs, name))


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where sampled classes are true ones: (rows, places in the sample, weights of about minus infinity)."""
    seed1, seed2 = get_seed(seed)
    return apply("ComputeAccidentalHits", (true_classes, sampled_candidates),
                 {"num_true": num_true, "seed": seed1 or 0, "seed2": seed2 or 0}, name)


def _parts(table):
    if isinstance(table, (list, tuple)):
        return list(table)
    return list(table) if hasattr(table, "_partitions") else [table]


def _sampled_loss(function, weights, biases, labels, inputs, options, name):
    # TensorFlow 0.x gave the inputs before the labels: integers are the labels.
    labels, inputs = _labels_and_inputs(labels, inputs)
    return function(_graph(), _parts(weights), _parts(biases), labels, inputs, options, name)


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
             remove_accidental_hits=False, partition_strategy="mod", name="nce_loss"):
    """Noise-contrastive estimation: one loss for each row."""
    options = dict(num_sampled=num_sampled, num_classes=num_classes, num_true=num_true, sampled_values=sampled_values,
                   remove_accidental_hits=bool(remove_accidental_hits), partition_strategy=partition_strategy, seed=None)
    return _sampled_loss(_weir.nce_loss, weights, biases, labels, inputs, options, name)


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss", seed=None):
    """Softmax cross entropy over a sample of the classes: for training only."""
    options = dict(num_sampled=num_sampled, num_classes=num_classes, num_true=num_true, sampled_values=sampled_values,
                   remove_accidental_hits=bool(remove_accidental_hits), partition_strategy=partition_strategy, seed=seed)
    return _sampled_loss(_weir.sampled_softmax_loss, weights, biases, labels, inputs, options, name)


def _labels_and_inputs(labels, inputs):
    first, second = convert_to_tensor(labels), convert_to_tensor(inputs)
    return (second, first) if second.dtype.base_dtype.is_integer and first.dtype.base_dtype.is_floating else (first, second)

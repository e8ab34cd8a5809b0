"""Sequences to sequences: attention, decoders, beam search. tf.contrib.seq2seq."""

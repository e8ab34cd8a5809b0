"""Graphs, tensors, variables, sessions: the objects that every program meets.

As `tensorflow.core`, which it is under the alias `tensorflow`, it also has TensorFlow's packages of messages.
"""

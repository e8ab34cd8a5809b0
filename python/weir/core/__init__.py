"""Graphs, tensors, variables, sessions: the objects that every program meets."""

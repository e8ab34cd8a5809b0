"""Recurrent networks: the cells, and what runs them along a sequence."""

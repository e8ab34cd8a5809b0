"""Queues, and the other places where runs meet: barriers, staging areas, accumulators of gradients."""

"""Weir for input.py."""

import weir as tf

from input_workloads import serve

serve(tf, "Weir")

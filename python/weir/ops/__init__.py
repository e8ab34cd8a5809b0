"""Functions that make nodes, area by area; ``weir`` and ``weir.nn`` give them their public places."""

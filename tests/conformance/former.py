"""Operations that TensorFlow takes only from graphs of former versions."""
import os
import re

SIGNATURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data', 'ops-1.15.5.tsv')


def _producers():
    found = {}
    with open(SIGNATURES) as lines:
        for line in lines:
            fields = line.rstrip('\n').split('\t')
            removed = re.search(r'deprecated@(\d+)', fields[4])
            if removed:
                found[fields[0]] = int(removed.group(1)) - 1
    return found


PRODUCERS = _producers()  # {operation: the last version of graphs that may have it}


def set_version(graph_def, operations):
    """Marks a graph as one of the time when all of these operations were allowed."""
    limits = [PRODUCERS[op] for op in operations if op in PRODUCERS]
    if limits:
        graph_def.versions.producer = min(limits)

"""tensorflow.python.ops.summary_op_util: what libraries that define summaries of their own use."""

import contextlib
import re

from weir import logging
from weir.core.graph import add_to_collections, name_scope
from weir.distribute.context import _replicas


def collect(val, collections, default_collections):
    """Puts a summary into its collections."""
    add_to_collections(default_collections if collections is None else collections, val)


def clean_tag(name):
    """A name as a summary's node may have it."""
    if name is None:
        return None
    new_name = re.sub(r"[^-\w\.]", "_", name).lstrip("/")
    if new_name != name:
        logging.info("Summary name %s is illegal; using %s instead.", name, new_name)
    return new_name


@contextlib.contextmanager
def summary_scope(name, family=None, default_name=None, values=None):
    """The tag of a summary and the scope of its node: the tag has the family twice, TensorBoard's way of grouping."""
    name, family = clean_tag(name), clean_tag(family)
    scope_base_name = name if family is None else f"{family}/{name}"
    with name_scope(scope_base_name, default_name, values) as scope:
        yield (scope if family is None else f"{family}/{scope}").rstrip("/"), scope


def skip_summary():
    """Whether this is a tower of a strategy, of which only one has summaries."""
    return _replicas() is not None

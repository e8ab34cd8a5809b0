"""Operations that a model runs when it is loaded."""

from weir import names
from weir.ops.control_flow_ops import group


def main_op():
    """Initialises the graph's variables and tables."""
    weir = names.at("weir")
    return group(weir.global_variables_initializer(), weir.local_variables_initializer(), weir.tables_initializer())


def main_op_with_restore(restore_op_name):
    weir = names.at("weir")
    with weir.control_dependencies([main_op()]):
        return group(restore_op_name, weir.local_variables_initializer(), weir.tables_initializer())

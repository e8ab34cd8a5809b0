"""Rows of the table of operations: variables."""
import numpy as np

from cases.table import C, FLOATS, K, V, row

row('Assign', lambda v: [C(V(v(3, 4)), v(3, 4))])
row('AssignAdd AssignSub AssignAddVariableOp AssignSubVariableOp AssignVariableOp',
    lambda v: [C(V(v(3, 4)), v(3, 4)), C(V(v()), v())])
row(
    'ScatterAdd ScatterSub ScatterUpdate ScatterMul ScatterMin ScatterMax ResourceScatterAdd ResourceScatterSub '
    'ResourceScatterUpdate ResourceScatterMul ResourceScatterMin ResourceScatterMax',
    lambda v: [C(V(v(5, 3)), K([4, 0, 2]), v(3, 3)),
               C(V(v(5)), K([[1, 2], [0, 4]]), v(2, 2))])
row('ScatterDiv ResourceScatterDiv', lambda v: [C(V(v(5, 3)), K([4, 0, 2]), v.nonzero(3, 3))])
row('ScatterNdAdd ScatterNdSub ScatterNdUpdate ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate', lambda v: [C(V(v(5, 3)), K([[4], [0]]), v(2, 3))])
row('ResourceGather', lambda v: [C(V(v(5, 3)), K([4, 0, 4]), dtype=v.dtype)])
row('ReadVariableOp', lambda v: [C(V(v(3, 4)), dtype=v.dtype)])
row('VariableShape IsVariableInitialized VarIsInitializedOp', lambda v: [C(V(v(3, 4)))])
row('CountUpTo', lambda v: [C(V(np.array(3, v.dtype)), limit=5)], ('int32', 'int64'))

SCALARS = {
    'lr': 0.1, 'alpha': 0.1, 'rho': 0.9, 'epsilon': 0.01, 'momentum': 0.9, 'beta1_power': 0.81, 'beta2_power': 0.99,
    'beta1': 0.9, 'beta2': 0.99, 'l1': 0.02, 'l2': 0.03, 'lr_power': -0.5, 'l2_shrinkage': 0.05, 'beta': 0.9,
    'logbase': 1.0, 'sign_decay': 0.9
}


def update(input_names, attr_names):
    """The row of an operation that applies a gradient to variables, from the names of its inputs."""
    sparse = 'indices' in input_names

    def cases(v):
        if not v.is_float and not v.is_complex:
            return
        for flag in [{}] + [{name: True} for name in ('use_nesterov', 'use_locking') if name in attr_names]:
            for rows in (3, 17):
                inputs = []
                for name in input_names:
                    if name == 'indices':
                        inputs.append(K([0, 2]))
                    elif name == 'global_step':
                        inputs.append(K(4, np.int64))
                    elif name in SCALARS:
                        inputs.append(
                            np.asarray(v.of(SCALARS[name]).real, v.dtype if v.dtype != 'bfloat16' else np.float32))
                    elif name in ('grad', 'delta'):
                        inputs.append(v(2 if sparse else rows, 4))
                    elif name in ('var', 'm', 'mom', 'mg', 'linear', 'gradient_accumulator'):
                        inputs.append(V(v(rows, 4, low=-0.3, high=0.3)))
                    else:
                        inputs.append(V(v(rows, 4, low=0.5, high=2)))
                yield C(*inputs, gradient=False, **flag)

    return cases

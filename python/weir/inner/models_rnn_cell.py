"""tensorflow.models.rnn.rnn_cell, where TensorFlow 0.5 to 0.7 kept its cells: their states are one tensor."""

from weir import nest as _nest
from weir.rnn import cells as _cells


class BasicLSTMCell(_cells.BasicLSTMCell):
    def __init__(self, num_units, forget_bias=1.0, input_size=None, state_is_tuple=False, **options):
        super().__init__(num_units, forget_bias=forget_bias, state_is_tuple=state_is_tuple, **options)


class LSTMCell(_cells.LSTMCell):
    def __init__(self, num_units, input_size=None, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None,
                 num_unit_shards=1, num_proj_shards=1, state_is_tuple=False, **options):
        super().__init__(num_units, use_peepholes=use_peepholes, cell_clip=cell_clip, initializer=initializer,
                         num_proj=num_proj, state_is_tuple=state_is_tuple, **options)


class MultiRNNCell(_cells.MultiRNNCell):
    def __init__(self, cells, state_is_tuple=None):
        if state_is_tuple is None:  # cells of later modules have tuples
            state_is_tuple = any(_nest.is_sequence(cell.state_size) for cell in cells)
        super().__init__(cells, state_is_tuple=state_is_tuple)

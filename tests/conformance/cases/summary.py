"""Rows of the table of operations: summaries: serialised messages; pictures are compared as pixels."""
import numpy as np

from cases.text import text
from cases.table import C, K, row

TAG = K(b'tag', object)
row('ScalarSummary', lambda v: [C(TAG, v()), C(K([b'a', b'b'], object), v(2))])
row('HistogramSummary', lambda v: [C(TAG, v(3, 4)), C(TAG, v(200, low=-30, high=30)), C(TAG, v(0))])
row(
    'ImageSummary', lambda v:
    [C(TAG, v(2, 3, 4, 1, low=0, high=1.5)),
     C(TAG, v(1, 3, 4, 3)),
     C(TAG, v(4, 2, 2, 4, low=0, high=3), max_images=2)])
row('AudioSummary', lambda v: [C(TAG, v(2, 9, 2), sample_rate=10.0)], ('float32',))
row('AudioSummaryV2',
    lambda v: [C(TAG, v(2, 9, 2), K(10.0, np.float32)),
               C(TAG, v(2, 9), K(10.0, np.float32), max_outputs=1)], ('float32',))
row('TensorSummary', lambda v: [C(v(3, 4), description='text', display_name='name')])
row('TensorSummaryV2', lambda v: [C(TAG, v(3, 4), K(b'', object))])

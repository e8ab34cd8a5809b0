"""Rows of the table of operations: quantised numbers."""
from cases.table import C, K, REAL, row

FLOAT = ('float32',)

row('FakeQuantWithMinMaxArgs', lambda v: [
    C(v(3, 50, low=-9, high=9)), C(v(3, 50), min=-1.5, max=1.0, num_bits=4, narrow_range=True), C(v(40), min=0.5, max=2.0)], FLOAT)
row('FakeQuantWithMinMaxArgsGradient', lambda v: [C(v(3, 50), v(3, 50, low=-9, high=9), gradient=False)], FLOAT)
row('FakeQuantWithMinMaxVars', lambda v: [
    C(v(3, 50), v.of(-1.2), v.of(1.7)), C(v(3, 50), v.of(0.1), v.of(1.7), num_bits=3, narrow_range=True), C(v(4), v.of(0), v.of(0))], FLOAT)
row('FakeQuantWithMinMaxVarsGradient', lambda v: [C(v(3, 50), v(3, 50), v.of(-1.2), v.of(1.7), gradient=False)], FLOAT)
row('FakeQuantWithMinMaxVarsPerChannel', lambda v: [
    C(v(5, 3), v.of([-1.2, -1, 0]), v.of([1.7, 0.5, 0])), C(v(2, 3, 4, 2), v.of([-1.2, -1]), v.of([1.7, 0.5]), num_bits=5)], FLOAT)
row('FakeQuantWithMinMaxVarsPerChannelGradient', lambda v: [
    C(v(5, 3), v(5, 3), v.of([-1.2, -1, 0]), v.of([1.7, 0.5, 0]), gradient=False)], FLOAT)
row('QuantizeAndDequantize', lambda v: [
    C(v(30)), C(v(30), num_bits=4, range_given=True, input_min=-1.0, input_max=1.2), C(abs(v(30)), signed_input=False)], REAL)
row('QuantizeAndDequantizeV2', lambda v: [
    C(v(30), v.of(0), v.of(0)), C(v(30), v.of(-1.0), v.of(1.2), num_bits=4, range_given=True, narrow_range=True),
    C(abs(v(30)), v.of(0), v.of(2), signed_input=False, range_given=True, round_mode='HALF_UP')], REAL)
row('QuantizeAndDequantizeV3', lambda v: [C(v(30), v.of(-1.5), v.of(1.2), K(5)), C(v(30), v.of(0), v.of(0), K(8), range_given=False)],
    REAL)

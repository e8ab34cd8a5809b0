"""Numbers of few bits: fake_quant, quantize, dequantize."""

from weir import names as _names
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply, op_function
from weir.ops import simple

simple.install(globals(), {
    "fake_quant_with_min_max_args": "FakeQuantWithMinMaxArgs",
    "fake_quant_with_min_max_args_gradient": "FakeQuantWithMinMaxArgsGradient",
    "fake_quant_with_min_max_vars": "FakeQuantWithMinMaxVars",
    "fake_quant_with_min_max_vars_gradient": "FakeQuantWithMinMaxVarsGradient",
    "fake_quant_with_min_max_vars_per_channel": "FakeQuantWithMinMaxVarsPerChannel",
    "fake_quant_with_min_max_vars_per_channel_gradient": "FakeQuantWithMinMaxVarsPerChannelGradient",
    "dequantize": "Dequantize",
    "quantized_concat": "QuantizedConcat",
})


def quantize_v2(input, min_range, max_range, T, mode="MIN_COMBINED", name=None, round_mode="HALF_AWAY_FROM_ZERO"):
    return op_function("QuantizeV2")(input, min_range, max_range, T=dtypes.as_dtype(T), mode=mode, round_mode=round_mode,
                                     name=name)


def quantize(input, min_range, max_range, T, mode="MIN_COMBINED", round_mode="HALF_AWAY_FROM_ZERO", name=None):
    return quantize_v2(input, min_range, max_range, T, mode, name, round_mode)


def quantize_and_dequantize(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False,
                            round_mode="HALF_TO_EVEN", name=None, narrow_range=False):
    input = convert_to_tensor(input)
    return apply("QuantizeAndDequantizeV2", (input, input_min, input_max),
                 {"signed_input": signed_input, "num_bits": num_bits, "range_given": range_given,
                  "round_mode": round_mode, "narrow_range": narrow_range}, name)


__getattr__, __dir__ = _names.namespace(__name__)

"""tf.bitwise: one operation each."""

from weir.ops import simple

simple.install(globals(), {
    "bitwise_and": "BitwiseAnd", "bitwise_or": "BitwiseOr", "bitwise_xor": "BitwiseXor",
    "invert": "Invert", "left_shift": "LeftShift", "right_shift": "RightShift",
})

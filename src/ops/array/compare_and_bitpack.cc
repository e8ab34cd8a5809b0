#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/math/functors.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  if (c.input(1).has_rank() && c.input(1).rank() != 0) {
    throw invalid_argument("Compare must be a scalar, but saw shape: {}", c.input(1).str());
  }
  Shape to = c.input(0);
  if (!to.has_rank()) return;
  if (to.rank() < 1) throw invalid_argument("Input should be at least a vector, but saw a scalar.");
  if (to[-1] != kUnknown) {
    if (to[-1] % 8 != 0) {
      throw invalid_argument("Inner dimension of input should be divisible by 8, but saw shape: {}", to.str());
    }
    to.set_dim(to.rank() - 1, to[-1] / 8);
  }
  c.set_output(0, to);
}

// Eight answers a byte, the first in the highest bit.
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const T* x = c.input<T>(0);
    const auto threshold = static_cast<Wide<T>>(c.scalar<T>(1));
    c.pool().parallel_for(c.output_elements(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        unsigned bits = 0;
        for (int64_t j = 0; j < 8; ++j) {
          const auto value = static_cast<Wide<T>>(x[8 * i + j]);
          // Truth values are packed as they are, whatever the threshold, as TensorFlow does.
          bool above;
          if constexpr (std::is_same_v<T, bool>) {
            above = value;
          } else {
            above = value > threshold;
          }
          bits = bits << 1 | static_cast<unsigned>(above);
        }
        c.output<uint8_t>()[i] = static_cast<uint8_t>(bits);
      }
    });
  }
};

}  // namespace

OpDef compare_and_bitpack_op() {
  return {.name = "CompareAndBitpack",
          .inputs = "input:T; threshold:T",
          .outputs = "output:uint8",
          .attrs = "T:type{bool,half,float,double,int8,int16,int32,int64}",
          .infer = infer,
          .cpu = {.select = kernel_for<Types<bool, Half, float, double, int8_t, int16_t, int32_t, int64_t>, Cpu>}};
}

}  // namespace weir::ops

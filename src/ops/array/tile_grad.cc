#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "ops/math/functors.h"

// What graphs of TensorFlow 0.x have as the gradient of Tile: the sum of the copies.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& x = c.input(0);
  c.require_rank(1, 1);
  if (!x.has_rank()) return;
  const auto multiples = c.value_as_ints(1);
  if (!multiples) return c.set_output(0, Shape::unknown_dims(x.rank()));
  if (static_cast<int>(multiples->size()) != x.rank()) {
    throw invalid_argument("Expected multiples argument to be a vector of length {} but got length {}", x.rank(),
                           multiples->size());
  }
  Shape to;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t m = (*multiples)[static_cast<size_t>(i)];
    if (m <= 0) throw invalid_argument("Expected multiples[{}] > 0, but got {}", i, m);
    if (x[i] != kUnknown && x[i] % m != 0) {
      throw invalid_argument("Expected input_shape[{}] to be divisible by multiples[{}], but {} % {} != 0", i, i, x[i],
                             m);
    }
    to.append(x[i] == kUnknown ? kUnknown : x[i] / m);
  }
  c.set_output(0, to);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Shape &from = c.shape(0), &to = c.output_shape();
    const Strides from_strides(from), to_strides(to);
    const int rank = from.rank();
    c.pool().parallel_for(c.output_elements(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t start = 0, copies = 1;
        for (int d = 0; d < rank; ++d) {
          start += i / to_strides[d] % to[d] * from_strides[d];
          copies *= from[d] / to[d];
        }
        Wide<T> sum = Wide<T>(0);
        for (int64_t copy = 0; copy < copies; ++copy) {
          int64_t at = start, rest = copy;
          for (int d = rank - 1; d >= 0; --d) {
            const int64_t m = from[d] / to[d];
            at += rest % m * to[d] * from_strides[d];
            rest /= m;
          }
          sum = wrapping_add(sum, static_cast<Wide<T>>(c.input<T>(0)[at]));
        }
        c.output<T>()[i] = static_cast<T>(sum);
      }
    });
  }
};

}  // namespace

OpDef tile_grad_op() {
  return {.name = "TileGrad",
          .inputs = "input:T; multiples:int32",
          .outputs = "output:T",
          .attrs = "T:type",
          .flags = "deprecated@3",
          .host = "multiples",
          .infer = infer,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>}};
}

}  // namespace weir::ops

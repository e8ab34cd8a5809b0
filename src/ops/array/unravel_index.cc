#include <limits>

#include "base/errors.h"
#include "ops/array/array_util.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape &indices = c.input(0), &dims = c.input(1);
  if (indices.has_rank() && indices.rank() > 1) {
    throw invalid_argument("The indices can only be scalar or vector, got \"{}\"", indices.str());
  }
  c.require_rank(1, 1);
  if (!indices.has_rank()) return;
  const int64_t rank = dims.has_rank() ? dims[0] : kUnknown;
  c.set_output(0, indices.rank() == 0 ? Shape{rank} : Shape{rank, indices[0]});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const int64_t n = c.elements(0), rank = c.elements(1);
    const T* dims = c.input<T>(1);
    int64_t total = 1;
    for (int64_t i = 0; i < rank; ++i) {
      if (dims[i] == 0) {
        throw invalid_argument("Input dims cannot contain a dim of zero, but dims contains zero at index {}", i);
      }
      if (dims[i] < 0) throw invalid_argument("Input dims cannot be negative. Got dim = {} at index {}", dims[i], i);
      if (total > std::numeric_limits<T>::max() / dims[i]) {
        throw invalid_argument("Input dims product is causing integer overflow");
      }
      total *= dims[i];
    }
    const T* indices = c.input<T>(0);
    for (int64_t j = 0; j < n; ++j) {
      if (indices[j] < 0 || indices[j] >= total) {
        throw invalid_argument("index is out of bound as with dims");
      }
      int64_t rest = indices[j];
      for (int64_t i = rank - 1; i >= 0; --i) {
        c.output<T>()[i * n + j] = static_cast<T>(rest % dims[i]);
        rest /= dims[i];
      }
    }
  }
};

}  // namespace

OpDef unravel_index_op() {
  return {.name = "UnravelIndex",
          .inputs = "indices:Tidx; dims:Tidx",
          .outputs = "output:Tidx",
          .attrs = "Tidx:type{int32,int64}=int32",
          .infer = infer,
          .cpu = {.select = [](const NodeView& node) {
            return node.type("Tidx") == DType::Int32 ? &Cpu::run<int32_t> : &Cpu::run<int64_t>;
          }}};
}

}  // namespace weir::ops

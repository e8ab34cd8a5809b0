#include <cstring>

#include "autodiff/grad_context.h"
#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/math/binary.h"

namespace weir::ops {
namespace {

struct Sum {
  static constexpr auto kTile = cpu::BinaryFn::Add;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_add(x, y);
  }
};

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    T* y = c.output<T>();
    // Short blocks, so that y stays in the cache while one input after the other is added.
    c.pool().parallel_for(c.output_elements(), 8192, [&](int64_t begin, int64_t end) {
      const int64_t n = end - begin;
      const T* first = c.input<T>(0) + begin;
      if (c.inputs() == 1 && y + begin != first) std::memcpy(static_cast<void*>(y + begin), first, n * sizeof(T));
      for (int i = 1; i < c.inputs(); ++i) {
        binary_row<Sum>(i == 1 ? first : y + begin, c.input<T>(i) + begin, y + begin, n, cpu::Operands::VV);
      }
    });
  }
};

void gradient(GradContext& c) {
  for (int i = 0; i < c.inputs(); ++i) c.set_input_grad(i, c.output_grad());
}

}  // namespace

OpDef add_n_op() {
  return {.name = "AddN",
          .inputs = "inputs:N*T",
          .outputs = "sum:T",
          .attrs =
              "N:int>=1; T:type{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
              "uint16,complex128,half,uint32,uint64,variant}",
          .flags = "commutative,aggregate",
          .infer = infer::merged,
          .gradient = gradient,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>, .in_place = 0b11}};
}

}  // namespace weir::ops

namespace weir {

Output add_n(const InList& inputs, std::string_view name) {
  const std::vector<In>& values = inputs.values();
  if (values.empty()) throw invalid_argument("add_n needs at least one tensor");
  if (values.size() == 1 && values[0].output()) {
    return name.empty() ? values[0].output() : identity(values[0], name);
  }
  return NodeBuilder("AddN", name).input(inputs).output();
}

}  // namespace weir

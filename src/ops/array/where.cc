#include "graph/op_def.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& from = c.input(0);
  c.set_output(0, Shape{kUnknown, from.has_rank() ? from.rank() : kUnknown});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const T* x = c.input<T>(0);
    const Shape& shape = c.shape(0);
    int64_t n = c.elements(0), found = 0;
    for (int64_t i = 0; i < n; ++i) found += x[i] != T(0.f);
    Tensor result(DType::Int64, Shape{found, shape.rank()});
    int64_t* row = result.mutable_data<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      if (x[i] == T(0.f)) continue;
      int64_t rest = i;
      for (int d = shape.rank() - 1; d >= 0; --d) {
        int64_t size = shape.dims()[static_cast<size_t>(d)];
        row[d] = rest % size;
        rest /= size;
      }
      row += shape.rank();
    }
    c.set_output(0, std::move(result));
  }
};

}  // namespace

OpDef where_op() {
  return {.name = "Where",
          .inputs = "input:T",
          .outputs = "index:int64",
          .attrs =
              "T:type{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,uint16,"
              "complex128,half,uint32,uint64,bool}=bool",
          .infer = infer,
          .cpu = {.select = kernel_for<PodTypes, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output where(const In& condition, std::string_view name) {
  return NodeBuilder("Where", name).input(condition).output();
}

}  // namespace weir

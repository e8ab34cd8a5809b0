#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    T one(1.f);
    fill_elements(dtype_of<T>, c.raw_output(), c.output_elements(), &one, c.pool());
  }
};

}  // namespace

OpDef ones_like_op() {
  return {.name = "OnesLike",
          .inputs = "x:T",
          .outputs = "y:T",
          .attrs = "T:type{bfloat16,half,float,double,int8,uint8,int16,uint16,int32,int64,complex64,complex128,bool}",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<PodTypes, Cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir {

Output ones_like(const In& x, DType dtype, std::string_view name) {
  Graph& graph = ops::graph_of({&x});
  LineScope line(graph, source_line(x.where()));
  Scope scope = graph.name_scope(ops::name_or(name, "ones_like"));
  const Output tensor = x.output();
  Output sizes = shape(tensor);
  Output result = ones(graph, sizes, dtype == DType::Invalid ? tensor.dtype() : dtype, scope.name());
  result.set_shape(tensor.shape());
  return result;
}

}  // namespace weir

#include <cstring>

#include "base/errors.h"
#include "ops/array/array_util.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

// The same bytes: smaller elements get a dimension of their own at the end, larger ones take the last dimension up.
void infer(InferContext& c) {
  const size_t from = dtype_size(c.attr<DType>("T")), to = dtype_size(c.attr<DType>("type"));
  Shape shape = c.input(0);
  if (!shape.has_rank() || from == 0 || to == 0) return;
  if (from > to) {
    shape.append(static_cast<int64_t>(from / to));
  } else if (from < to) {
    const auto ratio = static_cast<int64_t>(to / from);
    if (shape.rank() == 0 || (shape[-1] != kUnknown && shape[-1] != ratio)) {
      throw invalid_argument(
          "Cannot bitcast due to shape: the last dimension of {} must be {} to make one element of it", shape.str(),
          ratio);
    }
    shape = Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 1)));
  }
  c.set_output(0, shape);
}

void cpu(KernelContext& c) {
  const size_t bytes = static_cast<size_t>(c.elements(0)) * dtype_size(c.dtype(0));
  if (bytes > 0) std::memcpy(c.raw_output(), c.raw_input(0), bytes);
}

ComputeFn select(const NodeView& node) {
  const DType to = node.type("type");
  return dtype_size(node.type()) == 0 || dtype_size(to) == 0 ? nullptr : &cpu;
}

}  // namespace

OpDef bitcast_op() {
  constexpr std::string_view kAttrs =
      "T:type{bfloat16,half,float,double,int64,int32,uint8,uint16,uint32,uint64,int8,int16,complex64,complex128,qint8,"
      "quint8,qint16,quint16,qint32}; "
      "type:type{bfloat16,half,float,double,int64,int32,uint8,uint16,uint32,uint64,int8,int16,complex64,complex128,"
      "qint8,quint8,qint16,quint16,qint32}";
  return {.name = "Bitcast",
          .inputs = "input:T",
          .outputs = "output:type",
          .attrs = kAttrs,
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select}};
}

}  // namespace weir::ops

namespace weir {

Output bitcast(const In& input, DType type, std::string_view name) {
  return NodeBuilder("Bitcast", name).input(input).attr("type", type).output();
}

}  // namespace weir

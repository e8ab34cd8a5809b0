#include "base/errors.h"
#include "graph/infer_context.h"
#include "io/file.h"
#include "ops/types.h"

// A tensor that is the bytes of a file.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& shape = c.attr<Shape>("shape");
  if (!shape.is_known())
    throw invalid_argument("the shape of an ImmutableConst must be fully known; it is {}", shape.str());
  c.set_output(0, shape);
}

void cpu(KernelContext& c) {
  const auto& path = c.node().attr<std::string>("memory_region_name");
  const io::RandomAccessFile file(path);
  const size_t bytes = static_cast<size_t>(c.output_elements()) * dtype_size(c.node().type("dtype"));
  if (file.size() < bytes)
    throw error(Code::Internal, "Readonly memory region has wrong length ({}) when allocating {}: {}", file.size(),
                bytes, path);
  file.read(0, bytes, c.raw_output());
}

// Only numbers are bytes and nothing else.
ComputeFn select(const NodeView& node) {
  const DType dtype = node.type("dtype");
  if (dtype == DType::String || dtype == DType::Resource || dtype_size(dtype) == 0) {
    throw error(Code::Unimplemented, "Sorry, {} is not currently supported for ImmutableConst.", dtype_name(dtype));
  }
  return cpu;
}

}  // namespace

OpDef immutable_const_op() {
  return {.name = "ImmutableConst",
          .outputs = "tensor:dtype",
          .attrs = "dtype:type; shape:shape; memory_region_name:string",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select},
          .host_only = true};
}

}  // namespace weir::ops

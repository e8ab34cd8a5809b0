#include <limits>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "proto/tensor.pb.h"
#include "tensor/tensor_proto.h"

namespace weir::ops {
namespace {

void infer_parse(InferContext& c) {
  if (!c.input(0).has_rank() || c.input(0).rank() == 0) return;
  throw invalid_argument("Shape must be rank 0 but is rank {}: Expected `serialized` to be a scalar, got shape: {}",
                         c.input(0).rank(), c.input(0).str());
}

void parse(KernelContext& c) {
  const auto& bytes = c.scalar<std::string>(0);
  proto::TensorProto message;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || message.dtype() == proto::DT_INVALID) {
    throw invalid_argument("Could not parse `serialized` as TensorProto: '{}'",
                           bytes.size() > 64 ? fmt::format("{} bytes", bytes.size()) : std::string(bytes));
  }
  const auto dtype = static_cast<DType>(message.dtype());
  const auto wanted = c.node().attr<DType>("out_type");
  if (dtype != wanted) {
    throw invalid_argument("Type mismatch between parsed tensor ({}) and dtype ({})", dtype_name(dtype),
                           dtype_name(wanted));
  }
  ExpansionAllowance allowance;
  c.set_output(0, tensor_from_proto(message, allowance));
}

void serialize(KernelContext& c) {
  proto::TensorProto message;
  const Tensor value = c.input_view(0);
  if (value.dtype() == DType::String) {
    tensor_to_proto(value, message);
  } else {  // a single number is written like many, not as constants are
    message.set_dtype(static_cast<proto::DataType>(value.dtype()));
    shape_to_proto(value.shape(), *message.mutable_tensor_shape());
    if (value.elements() > 0) message.set_tensor_content(value.raw(), value.bytes());
  }
  *c.output<std::string>() = message.SerializeAsString();
}

}  // namespace

OpDef parse_tensor_op() {
  return {.name = "ParseTensor",
          .inputs = "serialized:string",
          .outputs = "output:out_type",
          .attrs = "out_type:type",
          .infer = infer_parse,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<parse>, .gives_outputs = true},
          .host_only = true};
}

OpDef serialize_tensor_op() {
  return {.name = "SerializeTensor",
          .inputs = "tensor:T",
          .outputs = "serialized:string",
          .attrs = "T:type",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<serialize>},
          .host_only = true};
}

}  // namespace weir::ops

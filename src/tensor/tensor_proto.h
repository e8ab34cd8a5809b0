#pragma once

#include "proto/tensor.pb.h"
#include "weir/shape.h"
#include "weir/tensor.h"

namespace weir {

void shape_to_proto(const Shape& shape, proto::TensorShapeProto& message);
// Throws InvalidArgument for dimensions below -1 and for more of them than a shape holds.
Shape shape_from_proto(const proto::TensorShapeProto& message);

// How many bytes tensors may take beyond those that stand in the message. A message of 20 bytes can say "a billion
// zeros"; what reads files of unknown origin shares one allowance among all tensors of a file.
class ExpansionAllowance {
 public:
  explicit ExpansionAllowance(int64_t bytes = int64_t{1} << 30) : left_(bytes) {}
  void take(int64_t bytes);  // throws ResourceExhausted

 private:
  int64_t left_;
};

// Writes one element or none as a typed field and more as raw content, as TensorFlow's Python does.
void tensor_to_proto(const Tensor& tensor, proto::TensorProto& message);

// Reads every encoding: raw content, and typed fields whose last value stands for all that are missing. Throws
// InvalidArgument for sizes that do not fit, Unimplemented for resource handles and variants.
Tensor tensor_from_proto(const proto::TensorProto& message, ExpansionAllowance& allowance);

}  // namespace weir

#pragma once

#include <google/protobuf/message_lite.h>

#include <functional>
#include <span>
#include <string>

#include "distributed/message.h"
#include "weir/tensor.h"

namespace weir::distributed {

// Messages with tensors, without a copy of these on the way out and with one on the way in. Everything throws
// InvalidArgument for bytes that are no such message.

// A small message.
Message encode(const google::protobuf::MessageLite& message);
void decode(const Message& bytes, google::protobuf::MessageLite& message);

// Adds the field `field` of a message: a TensorProto, or a NamedTensorProto when there is a name.
void add_tensor(Message& message, int field, const Tensor& tensor);
void add_named_tensor(Message& message, int field, const std::string& name, const Tensor& tensor);

// A message whose field `field` is a tensor (`named`: with a name) and comes once or more often. Calls `found` for each
// in order; everything else goes into `rest`.
using FoundTensor = std::function<void(std::string name, Tensor tensor)>;
void decode_with_tensors(const Message& bytes, int field, bool named, google::protobuf::MessageLite& rest,
                         const FoundTensor& found);

}  // namespace weir::distributed

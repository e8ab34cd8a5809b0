#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include <memory>
#include <string>
#include <vector>

#include "weir/attr.h"
#include "weir/dtype.h"

namespace weir::ops {

// A kind of message that an operation names by its attributes message_type and descriptor_source, and the fields of it
// that field_names asks for. The source is "local://" (the messages of this library; tensorflow.X is one of them), a
// file that holds a FileDescriptorSet, or "bytes://" and the bytes of such a set. Throws InvalidArgument for what is
// not there.
class ProtoFields {
 public:
  explicit ProtoFields(const AttrMap& attrs);
  ProtoFields(ProtoFields&&) = default;

  const std::string& message_type() const { return message_type_; }
  const std::vector<const google::protobuf::FieldDescriptor*>& fields() const { return fields_; }
  // Throws InvalidArgument unless field i can be a tensor of that type.
  void require_type(size_t i, DType dtype, const char* complaint) const;
  std::unique_ptr<google::protobuf::Message> new_message() const;

 private:
  std::string message_type_;
  std::unique_ptr<google::protobuf::DescriptorPool> pool_;  // null: the library's own
  std::unique_ptr<google::protobuf::DynamicMessageFactory> factory_;
  const google::protobuf::Descriptor* descriptor_ = nullptr;
  std::vector<const google::protobuf::FieldDescriptor*> fields_;
};

}  // namespace weir::ops

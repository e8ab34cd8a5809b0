#include "ops/io/proto_fields.h"

#include <google/protobuf/descriptor.pb.h>

#include "base/errors.h"
#include "io/file.h"

namespace weir::ops {
namespace {

namespace pb = google::protobuf;

constexpr std::string_view kLocal = "local://", kBytes = "bytes://";

// Complaints about descriptors become part of our error, not lines of the log.
class Complaints : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string&, const std::string& element, const pb::Message*, ErrorLocation,
                const std::string& message) override {
    if (text.empty()) text = element + ": " + message;
  }
  std::string text;
};

std::unique_ptr<pb::DescriptorPool> pool_of(const std::string& source) {
  pb::FileDescriptorSet set;
  const bool in_bytes = source.starts_with(kBytes);
  if (!set.ParseFromString(in_bytes ? source.substr(kBytes.size()) : io::read_file(source))) {
    throw invalid_argument("descriptor_source contains invalid FileDescriptorSet: {}",
                           in_bytes ? std::string(kBytes) : source);
  }
  auto pool = std::make_unique<pb::DescriptorPool>();
  for (const pb::FileDescriptorProto& file : set.file()) {
    Complaints complaints;
    if (!pool->BuildFileCollectingErrors(file, &complaints)) {
      throw invalid_argument("Failed to load FileDescriptorProto: {} ({})", file.name(), complaints.text);
    }
  }
  return pool;
}

// TensorFlow's messages have a package of their own here.
std::string local_name(const std::string& type) {
  constexpr std::string_view kTheirs = "tensorflow.";
  return type.starts_with(kTheirs) ? "weir.proto." + type.substr(kTheirs.size()) : type;
}

bool fits(pb::FieldDescriptor::Type type, DType dtype) {
  using Field = pb::FieldDescriptor;
  switch (type) {
    case Field::TYPE_DOUBLE:
      return dtype == DType::Float64;
    case Field::TYPE_FLOAT:
      return dtype == DType::Float32 || dtype == DType::Float64;
    case Field::TYPE_INT64:
    case Field::TYPE_SFIXED64:
    case Field::TYPE_SINT64:
      return dtype == DType::Int64;
    case Field::TYPE_UINT64:
    case Field::TYPE_FIXED64:
      return dtype == DType::UInt64;
    case Field::TYPE_INT32:
    case Field::TYPE_SFIXED32:
    case Field::TYPE_SINT32:
      return dtype == DType::Int32 || dtype == DType::Int64;
    case Field::TYPE_UINT32:
    case Field::TYPE_FIXED32:
      return dtype == DType::UInt32 || dtype == DType::UInt64;
    case Field::TYPE_BOOL:
      return dtype == DType::Bool;
    case Field::TYPE_ENUM:
      return dtype == DType::Int32;
    default:
      return dtype == DType::String;
  }
}

}  // namespace

ProtoFields::ProtoFields(const AttrMap& attrs) : message_type_(attrs.get<std::string>("message_type")) {
  const auto& source = attrs.get<std::string>("descriptor_source");
  const pb::DescriptorPool* pool = pb::DescriptorPool::generated_pool();
  std::string type = message_type_;
  if (source == kLocal || source.empty()) {
    type = local_name(type);
  } else {
    pool_ = pool_of(source);
    pool = pool_.get();
  }
  descriptor_ = pool->FindMessageTypeByName(type);
  if (!descriptor_) throw invalid_argument("No descriptor found for message type {}", message_type_);
  for (const std::string& name : attrs.get<std::vector<std::string>>("field_names")) {
    const pb::FieldDescriptor* field = descriptor_->FindFieldByName(name);
    if (!field) {
      field = pool->FindExtensionByName(name);
      if (field && field->containing_type() != descriptor_) field = nullptr;
    }
    if (!field) throw invalid_argument("Unknown field: {} in message type {}", name, message_type_);
    fields_.push_back(field);
  }
  factory_ = std::make_unique<pb::DynamicMessageFactory>(pool);
}

void ProtoFields::require_type(size_t i, DType dtype, const char* complaint) const {
  if (!fits(fields_[i]->type(), dtype)) {
    throw invalid_argument("{} {}: {} to {}", complaint, fields_[i]->full_name(), fields_[i]->cpp_type_name(),
                           dtype_name(dtype));
  }
}

std::unique_ptr<pb::Message> ProtoFields::new_message() const {
  return std::unique_ptr<pb::Message>(factory_->GetPrototype(descriptor_)->New());
}

}  // namespace weir::ops

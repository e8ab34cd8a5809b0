#include <google/protobuf/message.h>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/io/proto_fields.h"
#include "ops/types.h"

// Serialised messages made of tensors: of each row of a field's tensor as many elements as `sizes` says.
namespace weir::ops {
namespace {

namespace pb = google::protobuf;

void infer(InferContext& c) {
  const auto& types = c.attr<std::vector<DType>>("Tinput_types");
  if (c.attr<std::vector<std::string>>("field_names").size() != types.size())
    throw invalid_argument("Length of inputs list must match field_names");
  Shape prefix = Shape::unknown();
  for (int i = 1; i < c.inputs(); ++i) {
    c.require_min_rank(i, 2);
    if (!c.input(i).has_rank()) continue;
    Shape own;
    for (int d = 0; d + 1 < c.input(i).rank(); ++d) own.append(c.input(i)[d]);
    try {
      prefix = prefix.merged(own);
    } catch (const Error&) {
      throw invalid_argument("Values must match up to the last dimension: {} and {}", prefix.str(), own.str());
    }
  }
  if (prefix.has_rank() && c.input(0).has_rank()) {
    Shape wanted = prefix;
    wanted.append(static_cast<int64_t>(types.size()));
    try {
      wanted.merged(c.input(0));
    } catch (const Error&) {
      throw invalid_argument("sizes should be batch_size + [len(field_names)].  Saw: {} but expected: {}",
                             c.input(0).str(), wanted.str());
    }
  }
  c.set_output(0, prefix);
}

ProtoFields prepare(PrepareContext& c) {
  ProtoFields fields(c.node().attrs());
  const auto& types = c.attr<std::vector<DType>>("Tinput_types");
  for (size_t i = 0; i < types.size(); ++i) fields.require_type(i, types[i], "Incompatible type for field");
  return fields;
}

template <class To>
To number_at(const KernelContext& c, int input, int64_t at) {
  switch (c.dtype(input)) {
    case DType::Float32:
      return static_cast<To>(c.input<float>(input)[at]);
    case DType::Float64:
      return static_cast<To>(c.input<double>(input)[at]);
    case DType::Int32:
      return static_cast<To>(c.input<int32_t>(input)[at]);
    case DType::Int64:
      return static_cast<To>(c.input<int64_t>(input)[at]);
    case DType::UInt32:
      return static_cast<To>(c.input<uint32_t>(input)[at]);
    case DType::UInt64:
      return static_cast<To>(c.input<uint64_t>(input)[at]);
    default:
      return static_cast<To>(c.input<bool>(input)[at]);
  }
}

// Adds an element to a repeated field, or gives another its value.
void put(pb::Message& m, const pb::FieldDescriptor* field, const KernelContext& c, int input, int64_t at) {
  const pb::Reflection& r = *m.GetReflection();
  const bool many = field->is_repeated();
#define WEIR_PUT(Kind, value) many ? r.Add##Kind(&m, field, value) : r.Set##Kind(&m, field, value)
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return WEIR_PUT(Double, number_at<double>(c, input, at));
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return WEIR_PUT(Float, number_at<float>(c, input, at));
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return WEIR_PUT(Int32, number_at<int32_t>(c, input, at));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return WEIR_PUT(Int64, number_at<int64_t>(c, input, at));
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return WEIR_PUT(UInt32, number_at<uint32_t>(c, input, at));
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return WEIR_PUT(UInt64, number_at<uint64_t>(c, input, at));
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return WEIR_PUT(Bool, number_at<bool>(c, input, at));
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return WEIR_PUT(EnumValue, number_at<int32_t>(c, input, at));
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return WEIR_PUT(String, c.input<std::string>(input)[at]);
    default: {
      pb::Message* part = many ? r.AddMessage(&m, field) : r.MutableMessage(&m, field);
      if (!part->ParsePartialFromString(c.input<std::string>(input)[at])) {
        throw error(Code::DataLoss, "what is to be {} is no such message", field->full_name());
      }
    }
  }
#undef WEIR_PUT
}

void cpu(KernelContext& c) {
  const auto& proto = c.state<ProtoFields>();
  const auto& fields = proto.fields();
  const auto count = static_cast<int64_t>(fields.size());
  for (int64_t i = 0; i < c.output_elements(); ++i) {
    auto message = proto.new_message();
    for (int64_t f = 0; f < count; ++f) {
      const int input = static_cast<int>(f) + 1;
      const int64_t width = c.shape(input)[-1], size = c.input<int32_t>(0)[i * count + f];
      if (size > width) {
        throw invalid_argument(
            "Size to write must not be larger than value tensor; but saw: {} > {} at message {} field {}", size, width,
            i, f);
      }
      for (int64_t k = 0; k < size; ++k) put(*message, fields[static_cast<size_t>(f)], c, input, i * width + k);
    }
    c.output<std::string>()[i] = message->SerializePartialAsString();
  }
}

}  // namespace

OpDef encode_proto_op() {
  return {.name = "EncodeProto",
          .inputs = "sizes:int32; values:Tinput_types",
          .outputs = "bytes:string",
          .attrs =
              "field_names:list(string); message_type:string; descriptor_source:string='local://'; "
              "Tinput_types:list(type)>=1",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

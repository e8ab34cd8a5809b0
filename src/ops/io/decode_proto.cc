#include <google/protobuf/message.h>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "io/text_proto.h"
#include "ops/io/proto_fields.h"
#include "ops/types.h"

// Fields of serialised messages as tensors: a row for each message, filled up with the field's default value.
namespace weir::ops {
namespace {

namespace pb = google::protobuf;

void infer(InferContext& c) {
  const auto& types = c.attr<std::vector<DType>>("output_types");
  if (types.size() != c.attr<std::vector<std::string>>("field_names").size()) {
    throw invalid_argument("field_names and output_types attributes must have the same length");
  }
  Shape prefix = c.input(0);
  if (!prefix.has_rank()) return;
  Shape sizes = prefix;
  sizes.append(static_cast<int64_t>(types.size()));
  c.set_output(0, sizes);
  prefix.append(kUnknown);
  for (int i = 1; i < c.outputs(); ++i) c.set_output(i, prefix);
}

struct State {
  ProtoFields fields;
  bool text, strict;
};
State prepare(PrepareContext& c) {
  const auto& format = c.attr<std::string>("message_format");
  if (format != "binary" && format != "text") throw invalid_argument("format must be one of binary or text");
  State state{ProtoFields(c.node().attrs()), format == "text", format == "text" || c.attr<bool>("sanitize")};
  const auto& types = c.attr<std::vector<DType>>("output_types");
  for (size_t i = 0; i < types.size(); ++i) state.fields.require_type(i, types[i], "Unexpected output type for");
  return state;
}

std::unique_ptr<pb::Message> parsed(const State& state, const std::string& bytes) {
  auto message = state.fields.new_message();
  if (state.text) {
    if (!io::parse_text(bytes, *message)) throw error(Code::DataLoss, "Unable to parse text protobuf");
  } else if (!message->ParsePartialFromString(bytes) || (state.strict && !message->IsInitialized())) {
    throw error(Code::DataLoss, "Unable to parse binary protobuf");
  }
  return message;
}

int count_of(const pb::Message& message, const pb::FieldDescriptor* field) {
  const pb::Reflection& r = *message.GetReflection();
  return field->is_repeated() ? r.FieldSize(message, field) : r.HasField(message, field) ? 1 : 0;
}

// Element `at` of a field; of one that does not repeat there is only the first.
template <class Get, class GetRepeated>
auto element(const pb::FieldDescriptor* field, const Get& get, const GetRepeated& get_repeated) {
  return field->is_repeated() ? get_repeated() : get();
}

#define WEIR_READ(Kind) \
  return element(       \
      field, [&] { return r.Get##Kind(m, field); }, [&] { return r.GetRepeated##Kind(m, field, at); })

double number_of(const pb::Message& m, const pb::FieldDescriptor* field, int at) {
  const pb::Reflection& r = *m.GetReflection();
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_DOUBLE) WEIR_READ(Double);
  WEIR_READ(Float);
}

int64_t integer_of(const pb::Message& m, const pb::FieldDescriptor* field, int at) {
  const pb::Reflection& r = *m.GetReflection();
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      WEIR_READ(Int32);
    case pb::FieldDescriptor::CPPTYPE_INT64:
      WEIR_READ(Int64);
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      WEIR_READ(UInt32);
    case pb::FieldDescriptor::CPPTYPE_UINT64: {
      const uint64_t value = element(
          field, [&] { return r.GetUInt64(m, field); }, [&] { return r.GetRepeatedUInt64(m, field, at); });
      return static_cast<int64_t>(value);
    }
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      WEIR_READ(Bool);
    default:
      WEIR_READ(EnumValue);
  }
}

std::string text_of(const pb::Message& m, const pb::FieldDescriptor* field, int at) {
  const pb::Reflection& r = *m.GetReflection();
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING) WEIR_READ(String);
  const pb::Message& part = field->is_repeated() ? r.GetRepeatedMessage(m, field, at) : r.GetMessage(m, field);
  return part.SerializePartialAsString();
}
#undef WEIR_READ

// What stands where a message has no more elements. Reading a message without the field gives the default of one that
// does not repeat; repeated ones have the type's.
template <class T, class Read>
void fill(KernelContext& c, Tensor& to, size_t number, const std::vector<std::unique_ptr<pb::Message>>& messages,
          const Read& read) {
  const auto& state = c.state<State>();
  const pb::FieldDescriptor* field = state.fields.fields()[number];
  const int64_t width = to.shape()[-1];
  const auto blank = state.fields.new_message();
  T* out = to.mutable_data<T>();
  for (const auto& message : messages) {
    const int count = count_of(*message, field);
    for (int i = 0; i < width; ++i) {
      if (i < count) {
        *out++ = static_cast<T>(read(*message, field, i));
      } else {
        *out++ = field->is_repeated() ? T() : static_cast<T>(read(*blank, field, 0));
      }
    }
  }
}

void fill_output(KernelContext& c, Tensor& to, size_t number,
                 const std::vector<std::unique_ptr<pb::Message>>& messages) {
  switch (to.dtype()) {
    case DType::Float32:
      return fill<float>(c, to, number, messages, number_of);
    case DType::Float64:
      return fill<double>(c, to, number, messages, number_of);
    case DType::Int32:
      return fill<int32_t>(c, to, number, messages, integer_of);
    case DType::Int64:
      return fill<int64_t>(c, to, number, messages, integer_of);
    case DType::UInt32:
      return fill<uint32_t>(c, to, number, messages, integer_of);
    case DType::UInt64:
      return fill<uint64_t>(c, to, number, messages, integer_of);
    case DType::Bool:
      return fill<bool>(c, to, number, messages, integer_of);
    default:
      return fill<std::string>(c, to, number, messages, text_of);
  }
}

void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  const auto& fields = state.fields.fields();
  if (c.elements(0) < 1) throw invalid_argument("Bufs argument must contain at least one value");
  std::vector<std::unique_ptr<pb::Message>> messages;
  for (int64_t i = 0; i < c.elements(0); ++i) messages.push_back(parsed(state, c.input<std::string>(0)[i]));
  Shape shape = c.shape(0);
  shape.append(static_cast<int64_t>(fields.size()));
  Tensor sizes(int32, shape);
  const auto& types = c.node().attr<std::vector<DType>>("output_types");
  for (size_t f = 0; f < fields.size(); ++f) {
    int64_t width = 1;
    for (size_t i = 0; i < messages.size(); ++i) {
      const int count = count_of(*messages[i], fields[f]);
      sizes.mutable_data<int32_t>()[i * fields.size() + f] = count;
      width = std::max<int64_t>(width, count);
    }
    shape.set_dim(shape.rank() - 1, width);
    Tensor values(types[f], shape);
    fill_output(c, values, f, messages);
    c.set_output(static_cast<int>(f) + 1, std::move(values));
  }
  c.set_output(0, std::move(sizes));
}

}  // namespace

OpDef decode_proto_v2_op() {
  return {.name = "DecodeProtoV2",
          .inputs = "bytes:string",
          .outputs = "sizes:int32; values:output_types",
          .attrs =
              "message_type:string; field_names:list(string); output_types:list(type)>=0; "
              "descriptor_source:string='local://'; "
              "message_format:string='binary'; sanitize:bool=False",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

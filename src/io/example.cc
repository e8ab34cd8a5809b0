#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

#include "base/errors.h"
#include "proto/example.pb.h"
#include "weir/records.h"

namespace weir {
namespace {

std::string_view kind_name(const Example::Feature& feature) {
  static constexpr std::string_view kNames[] = {"of no kind", "bytes", "floats", "ints"};
  return kNames[feature.index()];
}

void to_proto(const Example::Feature& feature, proto::Feature& message) {
  if (auto* bytes = std::get_if<Example::Bytes>(&feature)) {
    message.mutable_bytes_list()->mutable_value()->Add(bytes->begin(), bytes->end());
  } else if (auto* floats = std::get_if<Example::Floats>(&feature)) {
    message.mutable_float_list()->mutable_value()->Add(floats->begin(), floats->end());
  } else if (auto* ints = std::get_if<Example::Ints>(&feature)) {
    message.mutable_int64_list()->mutable_value()->Add(ints->begin(), ints->end());
  }
}

Example::Feature from_proto(const proto::Feature& message) {
  switch (message.kind_case()) {
    case proto::Feature::kBytesList: {
      const auto& values = message.bytes_list().value();
      return Example::Bytes(values.begin(), values.end());
    }
    case proto::Feature::kFloatList: {
      const auto& values = message.float_list().value();
      return Example::Floats(values.begin(), values.end());
    }
    case proto::Feature::kInt64List: {
      const auto& values = message.int64_list().value();
      return Example::Ints(values.begin(), values.end());
    }
    case proto::Feature::KIND_NOT_SET:
      break;
  }
  return std::monostate();
}

void features_to_proto(const Example::Features& features, proto::Features& message) {
  for (const auto& [name, feature] : features) to_proto(feature, (*message.mutable_feature())[name]);
}

// Equal messages give equal bytes.
std::string serialized(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);  // maps in the order of their keys
  if (!message.SerializeToCodedStream(&coded)) {
    throw invalid_argument("the example cannot be serialised: it is larger than 2 GB or a name is not UTF-8");
  }
  coded.Trim();
  return bytes;
}

template <class Message>
Message parsed(std::string_view bytes, std::string_view kind) {
  Message message;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw error(Code::DataLoss, "{} bytes are no {} message", bytes.size(), kind);
  }
  return message;
}

template <class List>
const List& list(const Example::Features& features, std::string_view name, std::string_view kind) {
  auto it = features.find(name);
  if (it == features.end()) throw not_found("the example has no feature '{}'", name);
  const List* values = std::get_if<List>(&it->second);
  if (!values) throw invalid_argument("feature '{}' is {}, not {}", name, kind_name(it->second), kind);
  return *values;
}

}  // namespace

Example& Example::set(std::string_view name, Feature feature) {
  features_.insert_or_assign(std::string(name), std::move(feature));
  return *this;
}

const Example::Ints& Example::ints(std::string_view name) const { return list<Ints>(features_, name, "ints"); }
const Example::Floats& Example::floats(std::string_view name) const { return list<Floats>(features_, name, "floats"); }
const Example::Bytes& Example::bytes(std::string_view name) const { return list<Bytes>(features_, name, "bytes"); }

std::string Example::serialize() const {
  proto::Example message;
  features_to_proto(features_, *message.mutable_features());
  return serialized(message);
}

Example Example::parse(std::string_view bytes) {
  const auto message = parsed<proto::Example>(bytes, "Example");
  Example example;
  for (const auto& [name, feature] : message.features().feature()) example.features_[name] = from_proto(feature);
  return example;
}

std::string SequenceExample::serialize() const {
  proto::SequenceExample message;
  features_to_proto(context.features(), *message.mutable_context());
  auto& lists = *message.mutable_feature_lists()->mutable_feature_list();
  for (const auto& [name, list] : feature_lists) {
    auto& steps = lists[name];
    for (const Feature& feature : list) to_proto(feature, *steps.add_feature());
  }
  return serialized(message);
}

SequenceExample SequenceExample::parse(std::string_view bytes) {
  const auto message = parsed<proto::SequenceExample>(bytes, "SequenceExample");
  SequenceExample example;
  for (const auto& [name, feature] : message.context().feature()) example.context.set(name, from_proto(feature));
  for (const auto& [name, list] : message.feature_lists().feature_list()) {
    FeatureList& steps = example.feature_lists[name];
    for (const auto& feature : list.feature()) steps.push_back(from_proto(feature));
  }
  return example;
}

}  // namespace weir

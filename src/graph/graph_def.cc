#include "graph/graph_def.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <set>

#include "base/errors.h"
#include "graph/attr_proto.h"
#include "graph/function_def.h"
#include "graph/graph_impl.h"
#include "graph/node.h"
#include "tensor/tensor_proto.h"

namespace weir {
namespace {

constexpr int kRecursionLimit = 100;  // of messages within messages: protobuf's own limit for binary files

// Keeps the first message of the text parser.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = fmt::format("{}:{}: {}", line + 1, column + 1, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_inputs(const Node& node, proto::NodeDef& message) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!is_passed(node, i)) continue;
    const std::string& name = node.inputs[i].node()->name;
    const int port = written_port(node.inputs[i]);
    message.add_input(port == 0 ? name : name + ":" + std::to_string(port));
  }
  std::set<std::string> controls;
  for (const Node* control : node.control_inputs) controls.insert("^" + control->name);
  for (const std::string& control : controls) message.add_input(control);
}

}  // namespace

void node_to_proto(const Node& node, proto::NodeDef& message) {
  message.set_name(node.name);
  message.set_op(node.op->name);
  message.set_device(node.device);
  add_inputs(node, message);
  for (const auto& [name, value] : node.attrs) attr_to_proto(value, (*message.mutable_attr())[name]);
}

void graph_to_proto(const Graph& graph, proto::GraphDef& message) {
  message.mutable_versions()->set_producer(kGraphDefProducer);
  message.mutable_versions()->set_min_consumer(kGraphDefMinConsumer);
  proto::FunctionDefLibrary functions;
  functions.ParseFromString(graph.impl().storage.function_library);
  FunctionWriter writer(functions);
  for (const Operation& op : graph.operations()) {
    if (op.node()->body) continue;  // a part of a function
    proto::NodeDef& def = *message.add_node();
    writer.write_node(*op.node(), def);
    add_inputs(*op.node(), def);
  }
  if (functions.function_size() > 0 || functions.gradient_size() > 0) *message.mutable_library() = std::move(functions);
}

namespace {

std::string serialized(const proto::GraphDef& message) {
  if (message.ByteSizeLong() > INT32_MAX) {
    throw invalid_argument("GraphDef cannot be larger than 2GB. This one takes {} bytes", message.ByteSizeLong());
  }
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);  // the same graph gives the same bytes
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace

std::string Graph::to_graph_def() const {
  proto::GraphDef message;
  graph_to_proto(*this, message);
  return serialized(message);
}

std::string graph_def_with_shapes(const Graph& graph) {
  proto::GraphDef message;
  graph_to_proto(graph, message);
  for (proto::NodeDef& node : *message.mutable_node()) {
    const Operation operation = graph.operation(node.name());
    proto::AttrValue::ListValue& shapes = *(*node.mutable_attr())["_output_shapes"].mutable_list();
    shapes.clear_shape();  // of an imported graph that had the attribute
    for (int i = 0; i < operation.outputs(); ++i) {
      if (is_written(operation.output(i))) shape_to_proto(operation.output(i).shape(), *shapes.add_shape());
    }
  }
  return serialized(message);
}

std::string Graph::to_graph_def_text() const {
  proto::GraphDef message;
  graph_to_proto(*this, message);
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

ImportResult Graph::import_graph_def(std::string_view bytes, const ImportOptions& options) {
  proto::GraphDef message;
  google::protobuf::LogSilencer silence;  // what is wrong is said by the exception, not on the terminal
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw invalid_argument("these {} bytes are no GraphDef", bytes.size());
  }
  return import_graph(*this, message, options);
}

ImportResult Graph::import_graph_def_text(std::string_view text, const ImportOptions& options) {
  proto::GraphDef message;
  FirstError first_error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&first_error);
  parser.SetRecursionLimit(kRecursionLimit);
  if (!parser.ParseFromString(std::string(text), &message)) {
    throw invalid_argument("the text is no GraphDef: {}", first_error.text());
  }
  return import_graph(*this, message, options);
}

}  // namespace weir

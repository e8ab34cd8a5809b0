#include <google/protobuf/text_format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/errors.h"
#include "graph/graph_def.h"
#include "graph/op_def_proto.h"
#include "io/file.h"
#include "io/text_proto.h"
#include "proto/meta_graph.pb.h"
#include "proto/variable.pb.h"
#include "tensor/tensor_proto.h"
#include "weir/saver.h"

namespace weir::train {
namespace {

// The version whose formats these are.
constexpr const char* kTensorFlowVersion = "1.15.5";

constexpr std::string_view kVariableCollections[] = {
    "trainable_variables",      "variables",        "local_variables", "model_variables",
    "moving_average_variables", "metric_variables", "global_step"};

bool is_variable_collection(std::string_view name) {
  return std::ranges::find(kVariableCollections, name) != std::end(kVariableCollections);
}

proto::VariableDef variable_to_proto(const Variable& variable, bool trainable) {
  proto::VariableDef message;
  message.set_variable_name(variable.handle().name());
  message.set_initializer_name(variable.initializer().name());
  message.set_snapshot_name(variable.value().name());
  if (variable.initial_value()) message.set_initial_value_name(variable.initial_value().name());
  message.set_is_resource(variable.is_resource());
  message.set_trainable(trainable);
  if (const auto info = save_slice_info(variable)) {
    proto::SaveSliceInfoDef& slice = *message.mutable_save_slice_info_def();
    slice.set_full_name(info->full_name);
    for (int64_t dim : info->full_shape.dims()) slice.add_full_shape(dim);
    for (int64_t offset : info->var_offset) slice.add_var_offset(offset);
    for (int64_t size : info->var_shape) slice.add_var_shape(size);
  }
  return message;
}

Variable variable_from_proto(Graph& graph, const proto::VariableDef& message, const std::string& prefix) {
  Output initial_value;
  if (!message.initial_value_name().empty()) initial_value = graph.output(prefix + message.initial_value_name());
  const Variable variable(graph.output(prefix + message.variable_name()),
                          graph.output(prefix + message.snapshot_name()),
                          graph.operation(prefix + message.initializer_name()), initial_value);
  if (message.has_save_slice_info_def()) {
    const proto::SaveSliceInfoDef& slice = message.save_slice_info_def();
    set_save_slice_info(
        variable, {.full_name = prefix + slice.full_name(),
                   .full_shape = Shape(std::vector<int64_t>(slice.full_shape().begin(), slice.full_shape().end())),
                   .var_offset = {slice.var_offset().begin(), slice.var_offset().end()},
                   .var_shape = {slice.var_shape().begin(), slice.var_shape().end()}});
  }
  return variable;
}

// Adds an item; false when it is nothing that a file can hold, or of another kind than those before it. Only the
// collections that are there for variables hold these whole; in those of a program they are nodes, as in TensorFlow.
bool add_item(const Graph& graph, const std::any& item, bool whole_variables, proto::CollectionDef& list) {
  using Kind = proto::CollectionDef::KindCase;
  const Kind kind = list.kind_case();
  auto fits = [&](Kind wanted) { return kind == Kind::KIND_NOT_SET || kind == wanted; };
  if (const auto* variable = std::any_cast<Variable>(&item); variable && !whole_variables) {
    if (!fits(Kind::kNodeList)) return false;
    list.mutable_node_list()->add_value(variable->handle().name());
  } else if (variable) {
    if (!fits(Kind::kBytesList)) return false;
    const std::vector<Variable> trainable = graph.trainable_variables();
    const bool is_trainable =
        std::ranges::any_of(trainable, [&](const Variable& v) { return v.handle() == variable->handle(); });
    list.mutable_bytes_list()->add_value(variable_to_proto(*variable, is_trainable).SerializeAsString());
  } else if (const auto* text = std::any_cast<std::string>(&item)) {
    if (!fits(Kind::kBytesList)) return false;
    list.mutable_bytes_list()->add_value(*text);
  } else if (const auto* output = std::any_cast<Output>(&item)) {
    if (!fits(Kind::kNodeList)) return false;
    list.mutable_node_list()->add_value(output->name());
  } else if (const auto* operation = std::any_cast<Operation>(&item)) {
    if (!fits(Kind::kNodeList)) return false;
    list.mutable_node_list()->add_value(operation->name());
  } else if (const auto* number = std::any_cast<int64_t>(&item)) {
    if (!fits(Kind::kInt64List)) return false;
    list.mutable_int64_list()->add_value(*number);
  } else if (const auto* real = std::any_cast<float>(&item)) {
    if (!fits(Kind::kFloatList)) return false;
    list.mutable_float_list()->add_value(*real);
  } else {
    return false;
  }
  return true;
}

void export_collection(const Graph& graph, const std::string& name, proto::MetaGraphDef& meta) {
  proto::CollectionDef list;
  for (const std::any& item : graph.collection(name)) {
    if (!add_item(graph, item, is_variable_collection(name), list)) return;
  }
  if (list.kind_case() != proto::CollectionDef::KIND_NOT_SET) (*meta.mutable_collection_def())[name] = std::move(list);
}

std::any import_node(Graph& graph, const std::string& name) {
  if (name.find(':') != std::string::npos) return graph.output(name);
  return graph.operation(name);
}

// Devices are the nodes', in functions too.
void clear_devices(proto::GraphDef& graph) {
  for (proto::NodeDef& node : *graph.mutable_node()) node.clear_device();
  for (proto::FunctionDef& function : *graph.mutable_library()->mutable_function()) {
    for (proto::NodeDef& node : *function.mutable_node_def()) node.clear_device();
  }
}

// The scope of a node or tensor with its slash, "save_1/"; empty outside of all.
std::string scope_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(name.substr(0, slash + 1));
}

bool saves_or_restores(std::string_view op) {
  return op == "Save" || op == "SaveSlices" || op == "SaveV2" || op == "Restore" || op == "RestoreSlice" ||
         op == "RestoreV2";
}

// Each saver has its nodes in a scope of its own. Takes the scopes of all savers but the meta graph's from the graph
// and from collections, and the other savers themselves.
void clear_extraneous_savers(proto::MetaGraphDef& meta) {
  std::set<std::string> scopes;
  for (const proto::NodeDef& node : meta.graph_def().node()) {
    if (saves_or_restores(node.op())) scopes.insert(scope_of(node.name()));
  }
  scopes.erase("");
  scopes.erase(scope_of(meta.saver_def().save_tensor_name()));
  scopes.erase(scope_of(meta.saver_def().restore_op_name()));
  auto extraneous = [&](std::string_view name) {
    return std::ranges::any_of(scopes, [&](const std::string& scope) { return name.starts_with(scope); });
  };
  auto remove = [&](auto& list, auto name_of) {
    list.erase(std::remove_if(list.begin(), list.end(), [&](const auto& item) { return extraneous(name_of(item)); }),
               list.end());
  };
  remove(*meta.mutable_graph_def()->mutable_node(), [](const proto::NodeDef& node) { return node.name(); });
  for (auto& [name, list] : *meta.mutable_collection_def()) {
    if (list.has_node_list()) {
      remove(*list.mutable_node_list()->mutable_value(), [](const std::string& node) { return node; });
    } else if (name == "savers" && list.has_bytes_list()) {
      remove(*list.mutable_bytes_list()->mutable_value(), [](const std::string& bytes) {
        proto::SaverDef saver;
        return saver.ParseFromString(bytes) ? saver.save_tensor_name() : "";
      });
    }
  }
}

void complete(proto::MetaGraphDef& meta, bool strip_defaults, bool clear_savers) {
  if (clear_savers) clear_extraneous_savers(meta);
  proto::MetaGraphDef::MetaInfoDef& info = *meta.mutable_meta_info_def();
  if (!info.has_stripped_op_list()) *info.mutable_stripped_op_list() = ops_used_by(meta.graph_def());
  if (strip_defaults) {
    strip_default_attrs(*meta.mutable_graph_def());
    info.set_stripped_default_attrs(true);
  }
}

// TensorFlow's notes on which nodes of Switch and Merge belong together: the imported graph has others instead.
bool is_control_flow_context(std::string_view collection) {
  return collection == "cond_context" || collection == "while_context";
}

// Variables are the same object in every collection that lists them.
using Variables = std::unordered_map<std::string, Variable>;

void import_variables(Graph& graph, const std::string& name, const proto::CollectionDef& list,
                      const std::string& prefix, Variables& variables) {
  for (const std::string& bytes : list.bytes_list().value()) {
    proto::VariableDef message;
    if (!message.ParseFromString(bytes)) throw invalid_argument("a variable of collection '{}' does not parse", name);
    auto it = variables.find(message.variable_name());
    if (it == variables.end()) {
      it = variables.emplace(message.variable_name(), variable_from_proto(graph, message, prefix)).first;
    }
    graph.add_to_collection(name, it->second);
  }
}

void import_collection(Graph& graph, const std::string& name, const proto::CollectionDef& list,
                       const std::string& prefix) {
  using Kind = proto::CollectionDef::KindCase;
  switch (list.kind_case()) {
    case Kind::kNodeList:
      for (const std::string& node : list.node_list().value()) {
        graph.add_to_collection(name, import_node(graph, prefix + node));
      }
      break;
    case Kind::kBytesList:
      for (const std::string& bytes : list.bytes_list().value()) graph.add_to_collection(name, bytes);
      break;
    case Kind::kInt64List:
      for (int64_t number : list.int64_list().value()) graph.add_to_collection(name, number);
      break;
    case Kind::kFloatList:
      for (float number : list.float_list().value()) graph.add_to_collection(name, number);
      break;
    case Kind::kAnyList:
    case Kind::KIND_NOT_SET:
      break;
  }
}

}  // namespace

std::string export_meta_graph(const Graph& graph, const ExportMetaGraphOptions& options) {
  proto::MetaGraphDef meta;
  meta.mutable_meta_info_def()->set_tensorflow_version(kTensorFlowVersion);
  graph_to_proto(graph, *meta.mutable_graph_def());
  if (options.clear_devices) clear_devices(*meta.mutable_graph_def());
  for (const std::string& name : options.collection_list ? *options.collection_list : graph.collection_names()) {
    if (!name.starts_with("__")) export_collection(graph, name, meta);  // those are private to the process
  }
  for (const auto& [name, bytes] : options.more_collections) {
    if (!(*meta.mutable_collection_def())[name].ParseFromString(bytes)) {
      throw invalid_argument("the CollectionDef of '{}' does not parse", name);
    }
  }
  if (options.saver_def && !meta.mutable_saver_def()->ParseFromString(options.saver_def->serialize())) {
    throw error(Code::Internal, "a SaverDef does not parse");
  }
  complete(meta, options.strip_default_attrs, options.clear_extraneous_savers);
  return meta.SerializeAsString();
}

std::string complete_meta_graph(std::string_view meta_graph, bool strip_defaults, bool clear_savers) {
  proto::MetaGraphDef meta;
  if (!meta.ParseFromString(std::string(meta_graph))) throw invalid_argument("a MetaGraphDef does not parse");
  complete(meta, strip_defaults, clear_savers);
  return meta.SerializeAsString();
}

void write_meta_graph(const std::string& path, std::string_view meta_graph, bool as_text) {
  if (!as_text) return io::write_file_durably(path, meta_graph);
  proto::MetaGraphDef meta;
  std::string text;
  if (!meta.ParseFromString(std::string(meta_graph)) || !google::protobuf::TextFormat::PrintToString(meta, &text)) {
    throw invalid_argument("a MetaGraphDef does not parse");
  }
  io::write_file_durably(path, text);
}

std::string read_meta_graph(const std::string& path) {
  std::string bytes = io::read_file(path);
  proto::MetaGraphDef meta;
  if (meta.ParseFromString(bytes)) return bytes;
  if (!io::parse_text(bytes, meta)) throw error(Code::DataLoss, "'{}' holds no MetaGraphDef", path);
  return meta.SerializeAsString();
}

std::optional<Saver> import_meta_graph(Graph& graph, std::string_view meta_graph,
                                       const ImportMetaGraphOptions& options) {
  proto::MetaGraphDef meta;
  if (!meta.ParseFromString(std::string(meta_graph))) throw invalid_argument("a MetaGraphDef does not parse");
  if (options.clear_devices) clear_devices(*meta.mutable_graph_def());
  const std::string scope = options.import_scope;
  import_graph(graph, meta.graph_def(), {.prefix = scope, .input_map = options.input_map});
  const std::string prefix = scope.empty() ? "" : scope + "/";

  std::map<std::string, const proto::CollectionDef*> collections;
  for (const auto& [name, list] : meta.collection_def()) {
    if (!is_control_flow_context(name)) collections.emplace(name, &list);
  }
  Variables variables;
  for (const auto& [name, list] : collections) {
    if (is_variable_collection(name) && list->kind_case() == proto::CollectionDef::kBytesList) {
      import_variables(graph, name, *list, prefix, variables);
    } else {
      import_collection(graph, name, *list, prefix);
    }
  }
  if (!meta.has_saver_def()) return std::nullopt;
  SaverDef def = SaverDef::parse(meta.saver_def().SerializeAsString());
  for (std::string* name : {&def.filename_tensor_name, &def.save_tensor_name, &def.restore_op_name}) {
    if (!name->empty()) *name = prefix + *name;
  }
  return Saver::from_def(graph, def);
}

}  // namespace weir::train

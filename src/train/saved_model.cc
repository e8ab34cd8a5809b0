#include "weir/saved_model.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/errors.h"
#include "graph/node.h"
#include "io/file.h"
#include "io/text_proto.h"
#include "proto/saved_model.pb.h"
#include "tensor/tensor_proto.h"

namespace weir::train {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSchemaVersion = 1;
constexpr std::string_view kBinaryFile = "saved_model.pb", kTextFile = "saved_model.pbtxt";
constexpr std::string_view kAssetsKey = "saved_model_assets", kMainOpKey = "saved_model_main_op",
                           kLegacyInitOpKey = "legacy_init_op", kInitOpSignature = "__saved_model_init_op";

std::string in_folder(const std::string& folder, std::string_view name) { return (fs::path(folder) / name).string(); }
std::string variables_path(const std::string& folder) { return in_folder(folder, "variables/variables"); }

void to_proto(const TensorInfo& info, proto::TensorInfo& message) {
  if (info.values.empty()) {
    message.set_name(info.name);
  } else {
    message.mutable_coo_sparse()->set_values_tensor_name(info.values);
    message.mutable_coo_sparse()->set_indices_tensor_name(info.indices);
    message.mutable_coo_sparse()->set_dense_shape_tensor_name(info.dense_shape);
  }
  message.set_dtype(static_cast<proto::DataType>(info.dtype));
  shape_to_proto(info.shape, *message.mutable_tensor_shape());
}

TensorInfo from_proto(const proto::TensorInfo& message) {
  TensorInfo info;
  info.name = message.name();
  if (message.has_coo_sparse()) {
    info.values = message.coo_sparse().values_tensor_name();
    info.indices = message.coo_sparse().indices_tensor_name();
    info.dense_shape = message.coo_sparse().dense_shape_tensor_name();
  }
  info.dtype = static_cast<DType>(message.dtype());
  info.shape = shape_from_proto(message.tensor_shape());
  return info;
}

void to_proto(const Signature& signature, proto::SignatureDef& message) {
  for (const auto& [key, info] : signature.inputs) to_proto(info, (*message.mutable_inputs())[key]);
  for (const auto& [key, info] : signature.outputs) to_proto(info, (*message.mutable_outputs())[key]);
  message.set_method_name(signature.method_name);
}

Signature from_proto(const proto::SignatureDef& message) {
  Signature signature;
  for (const auto& [key, info] : message.inputs()) signature.inputs.emplace(key, from_proto(info));
  for (const auto& [key, info] : message.outputs()) signature.outputs.emplace(key, from_proto(info));
  signature.method_name = message.method_name();
  return signature;
}

void check(const std::map<std::string, Signature, std::less<>>& signatures) {
  for (const auto& [name, signature] : signatures) {
    for (const auto* side : {&signature.inputs, &signature.outputs}) {
      for (const auto& [key, info] : *side) {
        if ((info.name.empty() && info.values.empty()) || info.dtype == DType::Invalid) {
          throw invalid_argument("the tensor '{}' of signature '{}' needs a name and a type", key, name);
        }
      }
    }
  }
}

proto::SavedModel parse_saved_model(const std::string& folder) {
  proto::SavedModel model;
  const std::string binary = in_folder(folder, kBinaryFile), text = in_folder(folder, kTextFile);
  if (io::file_exists(binary)) {
    if (!model.ParseFromString(io::read_file(binary))) throw error(Code::DataLoss, "Cannot parse file {}", binary);
  } else if (io::file_exists(text)) {
    if (!io::parse_text(io::read_file(text), model)) throw error(Code::DataLoss, "Cannot parse file {}", text);
  } else {
    throw error(Code::NotFound, "SavedModel file does not exist at: {}/{{{}|{}}}", folder, kTextFile, kBinaryFile);
  }
  return model;
}

std::string listed(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
  return text;
}

const proto::MetaGraphDef& find_graph(const proto::SavedModel& model, const std::vector<std::string>& tags,
                                      const std::string& folder) {
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::string known;
  for (const proto::MetaGraphDef& graph : model.meta_graphs()) {
    const auto& has = graph.meta_info_def().tags();
    if (std::set<std::string>(has.begin(), has.end()) == wanted) return graph;
    known += (known.empty() ? "[" : ", [") + listed({has.begin(), has.end()}) + "]";
  }
  throw error(
      Code::NotFound,
      "MetaGraphDef associated with tags [{}] could not be found in SavedModel. To inspect available tag-sets in "
      "the SavedModel '{}': it has {}",
      listed(tags), folder, known.empty() ? "none" : known);
}

std::string scoped(const std::string& scope, const std::string& name) {
  return scope.empty() || name.empty() ? name : scope + "/" + name;
}

// The operation that a model wants to be run once it is restored; empty when there is none.
std::string init_operation(const proto::MetaGraphDef& meta) {
  if (auto found = meta.signature_def().find(std::string(kInitOpSignature)); found != meta.signature_def().end()) {
    auto output = found->second.outputs().find(std::string(kInitOpSignature));
    if (output != found->second.outputs().end()) return output->second.name();
  }
  for (std::string_view key : {kMainOpKey, kLegacyInitOpKey}) {
    auto found = meta.collection_def().find(std::string(key));
    if (found == meta.collection_def().end()) continue;
    if (found->second.node_list().value_size() != 1) {
      throw invalid_argument("Expected exactly one operation in the collection '{}', found {}", key,
                             found->second.node_list().value_size());
    }
    return found->second.node_list().value(0);
  }
  return {};
}

// What each asset's tensor is fed with: the file's place in this copy of the model.
std::vector<std::pair<Output, std::string>> asset_feeds(const proto::MetaGraphDef& meta, const Graph& graph,
                                                        const std::string& folder, const std::string& scope) {
  std::vector<proto::AssetFileDef> assets(meta.asset_file_def().begin(), meta.asset_file_def().end());
  if (auto found = meta.collection_def().find(std::string(kAssetsKey));
      assets.empty() && found != meta.collection_def().end()) {
    for (const auto& any : found->second.any_list().value()) {
      if (!assets.emplace_back().ParseFromString(any.value())) throw error(Code::DataLoss, "an asset does not parse");
    }
  }
  std::vector<std::pair<Output, std::string>> feeds;
  for (const proto::AssetFileDef& asset : assets) {
    feeds.emplace_back(graph.output(scoped(scope, asset.tensor_info().name())),
                       in_folder(folder, "assets/" + asset.filename()));
  }
  return feeds;
}

}  // namespace

TensorInfo::TensorInfo(const Output& tensor) : name(tensor.name()), dtype(tensor.dtype()), shape(tensor.shape()) {}

std::string Signature::serialize() const {
  proto::SignatureDef message;
  to_proto(*this, message);
  return message.SerializeAsString();
}

Signature Signature::parse(std::string_view bytes) {
  proto::SignatureDef message;
  if (!message.ParseFromString(std::string(bytes))) throw invalid_argument("a SignatureDef does not parse");
  return from_proto(message);
}

struct SavedModelBuilder::Impl {
  std::string folder;
  proto::SavedModel model = {};
  bool has_variables = false;

  // Copies the files behind string constants and notes them in the graph's message.
  void add_assets(const std::vector<Output>& assets, proto::MetaGraphDef& meta) const {
    std::map<std::string, std::string> source_of;  // by the name in the model
    for (const Output& asset : assets) {
      const Tensor value = constant_value(asset);
      if (asset.dtype() != DType::String || !value.valid() || value.elements() != 1) {
        throw invalid_argument("the asset '{}' is no string constant that names a file", asset.name());
      }
      const std::string source = value.data<std::string>()[0];
      // Two files of one name from different folders get different names here.
      const std::string name = fs::path(source).filename().string();
      std::string unique = name;
      for (int i = 1; source_of.contains(unique) && source_of[unique] != source; ++i) {
        unique = name + "_" + std::to_string(i);
      }
      source_of[unique] = source;
      proto::AssetFileDef& file = *meta.add_asset_file_def();
      to_proto(TensorInfo(asset), *file.mutable_tensor_info());
      file.set_filename(unique);
      (*meta.mutable_collection_def())[std::string(kAssetsKey)].mutable_any_list()->add_value()->PackFrom(file);
    }
    if (!source_of.empty()) io::create_directories(in_folder(folder, "assets"));
    for (const auto& [name, source] : source_of) {
      // A file that several graphs name is copied once, for the first of them.
      const std::string path = in_folder(folder, "assets/" + name);
      if (!fs::exists(path)) io::write_file_durably(path, io::read_file(source));
    }
  }

  void add(Graph& graph, const MetaGraphOptions& options, const Saver& saver) {
    ExportMetaGraphOptions exported{.more_collections = options.more_collections,
                                    .clear_devices = options.clear_devices,
                                    .strip_default_attrs = options.strip_default_attrs};
    if (!saver.empty()) exported.saver_def = saver.as_saver_def();
    proto::MetaGraphDef meta;
    if (!meta.ParseFromString(export_meta_graph(graph, exported)))
      throw error(Code::Internal, "a meta graph is damaged");
    for (const std::string& tag : options.tags) meta.mutable_meta_info_def()->add_tags(tag);
    for (const auto& [name, signature] : options.signatures) to_proto(signature, (*meta.mutable_signature_def())[name]);
    if (options.main_op) {
      (*meta.mutable_collection_def())[std::string(kMainOpKey)].mutable_node_list()->add_value(options.main_op->name());
    }
    add_assets(options.assets, meta);
    *model.add_meta_graphs() = std::move(meta);
  }
};

SavedModelBuilder::SavedModelBuilder(std::string export_dir) : impl_(new Impl{.folder = std::move(export_dir)}) {
  std::error_code ignored;
  if (fs::exists(impl_->folder, ignored) && !fs::is_empty(impl_->folder, ignored)) {
    throw error(
        Code::AlreadyExists,
        "Export directory already exists, and isn't empty. Please choose a different export directory, or delete "
        "all the contents of the specified directory: {}",
        impl_->folder);
  }
  io::create_directories(impl_->folder);
  impl_->model.set_saved_model_schema_version(kSchemaVersion);
}

SavedModelBuilder::~SavedModelBuilder() = default;

namespace {

Saver saver_of(Graph& graph, const MetaGraphOptions& options) {
  return options.saver ? Saver::from_def(graph, options.saver->as_saver_def())
                       : Saver(graph, {.sharded = true, .allow_empty = true});
}

}  // namespace

void SavedModelBuilder::add_meta_graph_and_variables(Session& session, const MetaGraphOptions& options) {
  if (impl_->has_variables) {
    throw error(Code::FailedPrecondition,
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` "
                "instead.");
  }
  check(options.signatures);
  Saver saver = saver_of(session.graph(), options);
  io::create_directories(in_folder(impl_->folder, "variables"));
  if (!saver.empty()) {
    saver.save(session, variables_path(impl_->folder), {.write_meta_graph = false, .write_state = false});
  }
  impl_->add(session.graph(), options, saver);
  impl_->has_variables = true;
}

void SavedModelBuilder::add_meta_graph(Graph& graph, const MetaGraphOptions& options) {
  if (!impl_->has_variables) {
    throw error(Code::FailedPrecondition,
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first.");
  }
  check(options.signatures);
  impl_->add(graph, options, saver_of(graph, options));
}

std::string SavedModelBuilder::save(bool as_text) {
  const std::string path = in_folder(impl_->folder, as_text ? kTextFile : kBinaryFile);
  std::string bytes;
  if (as_text ? !google::protobuf::TextFormat::PrintToString(impl_->model, &bytes)
              : !impl_->model.SerializeToString(&bytes)) {
    throw invalid_argument("the model is larger than 2 GiB, where protocol buffers end");
  }
  io::write_file_durably(path, bytes);
  return path;
}

void simple_save(Session& session, const std::string& export_dir, std::map<std::string, TensorInfo> inputs,
                 std::map<std::string, TensorInfo> outputs) {
  MetaGraphOptions options{.clear_devices = true};
  options.signatures[std::string(kServingDefault)] = {.inputs = std::move(inputs), .outputs = std::move(outputs)};
  SavedModelBuilder builder(export_dir);
  builder.add_meta_graph_and_variables(session, options);
  builder.save();
}

bool is_saved_model(const std::string& export_dir) {
  return io::file_exists(in_folder(export_dir, kBinaryFile)) || io::file_exists(in_folder(export_dir, kTextFile));
}

std::string read_saved_model(const std::string& export_dir) {
  return parse_saved_model(export_dir).SerializeAsString();
}

namespace {

Output tensor_of(const LoadedModel& model, const std::map<std::string, TensorInfo> Signature::*side,
                 std::string_view key, std::string_view signature) {
  auto found = model.signatures.find(std::string(signature));
  if (found == model.signatures.end()) throw error(Code::NotFound, "the model has no signature '{}'", signature);
  auto info = (found->second.*side).find(std::string(key));
  if (info == (found->second.*side).end()) {
    throw error(Code::NotFound, "the signature '{}' has no tensor '{}'", signature, key);
  }
  return model.graph->output(scoped(model.import_scope, info->second.name));
}

}  // namespace

Output LoadedModel::input(std::string_view key, std::string_view signature) const {
  return tensor_of(*this, &Signature::inputs, key, signature);
}

Output LoadedModel::output(std::string_view key, std::string_view signature) const {
  return tensor_of(*this, &Signature::outputs, key, signature);
}

LoadedModel load_saved_model(Session& session, const std::vector<std::string>& tags, const std::string& export_dir,
                             const LoadOptions& options) {
  const proto::SavedModel model = parse_saved_model(export_dir);
  const proto::MetaGraphDef& meta = find_graph(model, tags, export_dir);
  LoadedModel loaded{
      .meta_graph = meta.SerializeAsString(), .graph = &session.graph(), .import_scope = options.import_scope};
  for (const auto& [name, signature] : meta.signature_def()) loaded.signatures.emplace(name, from_proto(signature));

  std::optional<Saver> saver =
      import_meta_graph(session.graph(), loaded.meta_graph, {.import_scope = options.import_scope});
  if (saver && !saver->empty()) saver->restore(session, variables_path(export_dir));
  if (const std::string init = init_operation(meta); !init.empty()) {
    std::vector<Feed> feeds;
    for (auto& [asset, path] : asset_feeds(meta, session.graph(), export_dir, options.import_scope)) {
      feeds.push_back({asset, Tensor(path)});
    }
    session.run(session.graph().operation(scoped(options.import_scope, init)), feeds);
  }
  return loaded;
}

}  // namespace weir::train

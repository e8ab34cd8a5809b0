#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/saver.h"
#include "weir/session.h"

namespace weir::train {

// Models to give to others, as TensorFlow's SavedModel: a folder with saved_model.pb (graphs, told apart by tags, with
// signatures that say what goes in and comes out), variables/ (a checkpoint) and assets/ (files that the graphs read).
//
//   SavedModelBuilder model("export/1");
//   model.add_meta_graph_and_variables(session, {.signatures = {{kServingDefault, {{{"x", x}}, {{"y", y}}}}}});
//   model.save();
//
//   LoadedModel model = load_saved_model(session, {"serve"}, "export/1");
//   session.run(model.output("y"), {{model.input("x"), pictures}});

inline constexpr std::string_view kServingDefault = "serving_default";
inline constexpr std::string_view kPredictMethod = "tensorflow/serving/predict";

// What a signature says of a tensor.
struct WEIR_API TensorInfo {
  TensorInfo() = default;
  TensorInfo(const Output& tensor);                                       // NOLINT: {{"x", x}}
  TensorInfo(const Variable& variable) : TensorInfo(variable.value()) {}  // NOLINT
  std::string name = {};                                                  // "x:0"; empty of a sparse tensor
  std::string values = {}, indices = {}, dense_shape = {};                // the names of a sparse tensor's parts
  DType dtype = DType::Invalid;
  Shape shape = Shape::unknown();
};

struct WEIR_API Signature {
  std::map<std::string, TensorInfo> inputs = {}, outputs = {};
  std::string method_name = std::string(kPredictMethod);

  std::string serialize() const;                   // a SignatureDef
  static Signature parse(std::string_view bytes);  // throws InvalidArgument
};

struct MetaGraphOptions {
  std::vector<std::string> tags = {"serve"};
  std::map<std::string, Signature, std::less<>> signatures = {};
  // Runs after the variables are restored, for tables and the like.
  std::optional<Operation> main_op = {};
  // String constants that name files; these go into the model, and are fed with their new places when it is loaded.
  std::vector<Output> assets = {};
  bool clear_devices = false;
  bool strip_default_attrs = false;                                        // as in ExportMetaGraphOptions
  std::vector<std::pair<std::string, std::string>> more_collections = {};  // as in ExportMetaGraphOptions
  const Saver* saver = nullptr;  // saves the variables; null: one for all of them is made
};

// Nothing is at its place before save(), but for the variables and assets. Not for several threads at once.
class WEIR_API SavedModelBuilder {
 public:
  // Makes the folder. Throws AlreadyExists when there is one that holds something.
  explicit SavedModelBuilder(std::string export_dir);
  ~SavedModelBuilder();
  SavedModelBuilder(const SavedModelBuilder&) = delete;
  SavedModelBuilder& operator=(const SavedModelBuilder&) = delete;

  // The session's graph and the values of its variables; the first graph of a model. Throws FailedPrecondition when
  // there are variables already, InvalidArgument for signatures whose tensors have no name and type, and NotFound for
  // assets that are not there.
  void add_meta_graph_and_variables(Session& session, const MetaGraphOptions& options = {});
  // A further graph that uses the same variables.
  void add_meta_graph(Graph& graph, const MetaGraphOptions& options = {});
  // Writes saved_model.pb, or saved_model.pbtxt; returns its path.
  std::string save(bool as_text = false);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A model of one graph of which one signature is all there is to say.
WEIR_API void simple_save(Session& session, const std::string& export_dir, std::map<std::string, TensorInfo> inputs,
                          std::map<std::string, TensorInfo> outputs);

// Whether a folder holds a model.
WEIR_API bool is_saved_model(const std::string& export_dir);
// The serialised SavedModel of a folder, read from its binary or its text file. Throws NotFound, DataLoss.
WEIR_API std::string read_saved_model(const std::string& export_dir);

struct LoadOptions {
  std::string import_scope = {};
};

struct WEIR_API LoadedModel {
  std::map<std::string, Signature> signatures = {};
  std::string meta_graph = {};  // serialised
  Graph* graph = nullptr;
  std::string import_scope = {};

  // The tensor behind a key of a signature. Throws NotFound.
  Output input(std::string_view key, std::string_view signature = kServingDefault) const;
  Output output(std::string_view key, std::string_view signature = kServingDefault) const;
};

// Adds the graph with exactly these tags to the session's, restores its variables and runs its main operation. Throws
// NotFound when there is no model, or none with these tags.
WEIR_API LoadedModel load_saved_model(Session& session, const std::vector<std::string>& tags,
                                      const std::string& export_dir, const LoadOptions& options = {});

}  // namespace weir::train

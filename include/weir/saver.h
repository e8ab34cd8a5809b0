#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/checkpoint.h"
#include "weir/export.h"
#include "weir/graph.h"
#include "weir/partitioned_variable.h"
#include "weir/session.h"

namespace weir::train {

// Which nodes of a graph save and restore, and what is kept: TensorFlow's SaverDef.
struct WEIR_API SaverDef {
  enum class Version { Legacy = 0, V1 = 1, V2 = 2 };
  std::string filename_tensor_name, save_tensor_name, restore_op_name;
  int max_to_keep = 5;
  bool sharded = false;
  float keep_checkpoint_every_n_hours = 10000;
  Version version = Version::V2;

  std::string serialize() const;
  static SaverDef parse(std::string_view bytes);  // throws InvalidArgument
};

using weir::save_slice_info;
using weir::SaveSliceInfo;
using weir::set_save_slice_info;

// A variable and the name under which it is saved.
struct WEIR_API SaveItem {
  SaveItem(const Variable& v) : variable(v) {}  // NOLINT: under its own name
  SaveItem(std::string n, const Variable& v) : name(std::move(n)), variable(v) {}
  std::string name = {};  // empty: the variable's, or that of the tensor it is a slice of
  Variable variable;
};

struct SaverOptions {
  std::optional<std::vector<SaveItem>> var_list = {};  // {w, b} or {{"old/w", w}, {"old/b", b}}; none: all variables
  bool reshape = false;                                // restore values of another shape with as many elements
  bool sharded = false;                                // a file for each device
  int max_to_keep = 5;                                 // 0: all
  double keep_checkpoint_every_n_hours = 10000;        // of those beyond max_to_keep, keep one in so many hours
  std::string name = {};
  bool allow_empty = false;  // a saver without variables does nothing, instead of throwing
  SaverDef::Version write_version = SaverDef::Version::V2;
  bool pad_step_number = false;  // "model.ckpt-00000010"
  bool save_relative_paths = false;
  std::string filename = {};  // default of the file name's placeholder; empty: "model"
};

struct SaveOptions {
  std::optional<int64_t> global_step = {};  // "model.ckpt" -> "model.ckpt-10"
  std::string latest_filename = "checkpoint";
  std::string meta_graph_suffix = "meta";
  bool write_meta_graph = true;
  bool write_state = true;
  bool strip_default_attrs = false;  // of the meta graph, as in ExportMetaGraphOptions
};

struct ExportMetaGraphOptions {
  std::optional<SaverDef> saver_def = {};
  std::optional<std::vector<std::string>> collection_list = {};  // none: all collections
  // Collections that the graph does not keep itself: name and serialised CollectionDef.
  std::vector<std::pair<std::string, std::string>> more_collections = {};
  bool clear_devices = false;
  // Without what makes the nodes of other savers than `saver_def`.
  bool clear_extraneous_savers = false;
  // Without attributes that have their default values, so that readers who do not know an attribute yet need not.
  bool strip_default_attrs = false;
};

// Saves and restores the variables of a graph, with TensorFlow's nodes ("save/SaveV2", "save/restore_all", ...) and
// files. A checkpoint appears whole or not at all; the file "checkpoint" names it once it is there with its meta graph,
// and old ones go after that. The graph must outlive the saver. Several threads may save at once: one waits for the
// other, so that the checkpoint that is named last was begun last.
class WEIR_API Saver {
 public:
  using Where = SourceLocation;
  // Adds the nodes. Throws InvalidArgument when there is nothing to save, or two variables have one name.
  explicit Saver(Graph& graph, const SaverOptions& options = {}, Where where = Where::current());
  // Uses nodes that are there. `options` gives what a SaverDef does not say (pad_step_number, save_relative_paths).
  static Saver from_def(Graph& graph, const SaverDef& saver_def, const SaverOptions& options = {});

  // Runs the save nodes and returns the checkpoint's path ("model.ckpt-10"), which restore() takes.
  std::string save(Session& session, const std::string& path, const SaveOptions& options = {});
  // Throws NotFound when there is no such checkpoint or it lacks a variable, InvalidArgument when types or shapes
  // differ.
  void restore(Session& session, const std::string& path);

  const SaverDef& as_saver_def() const { return def_; }
  bool empty() const { return empty_; }
  // Checkpoints that have not been deleted, oldest first. These four wait for a save that is under way.
  std::vector<std::string> last_checkpoints() const;
  // Without times, as in TensorFlow: these count as new and are not deleted.
  void set_last_checkpoints(const std::vector<std::string>& paths);
  void set_last_checkpoints_with_time(std::vector<std::pair<std::string, double>> paths);
  // Goes on where an earlier saver stopped: those of the paths that exist, with the times of their files.
  void recover_last_checkpoints(const std::vector<std::string>& paths);

  // A serialised MetaGraphDef with this saver's SaverDef.
  std::string export_meta_graph(ExportMetaGraphOptions options = {}) const;

 private:
  Saver(Graph& graph, const SaverDef& saver_def, bool empty, const SaverOptions& options);
  void record(const std::string& path);
  std::vector<std::string> take_old();
  std::vector<std::string> last_paths() const;

  Graph* graph_;
  SaverDef def_;
  bool empty_ = false, pad_step_number_ = false, save_relative_paths_ = false;
  // Held while a checkpoint is written; guards the two below. On the heap, so that a saver can be moved.
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  std::vector<std::pair<std::string, double>> last_;  // path, time it was saved
  double next_kept_time_ = 0;                         // a checkpoint saved later than this is never deleted
};

// TensorFlow's MetaGraphDef, serialised: the graph, its collections (variables as VariableDef, nodes by name, strings,
// integers and floats; other things are left out), the saver, and the signatures of the operations that occur.
WEIR_API std::string export_meta_graph(const Graph& graph, const ExportMetaGraphOptions& options = {});
// A serialised MetaGraphDef whose graph somebody else has made, with what follows from the graph: the signatures of its
// operations, unless it has them; with `strip_default_attrs` and `clear_extraneous_savers` as above.
WEIR_API std::string complete_meta_graph(std::string_view meta_graph, bool strip_default_attrs = false,
                                         bool clear_extraneous_savers = false);
// The same, written durably; as text when asked for.
WEIR_API void write_meta_graph(const std::string& path, std::string_view meta_graph, bool as_text = false);

struct ImportMetaGraphOptions {
  std::string import_scope = {};
  bool clear_devices = false;
  std::vector<std::pair<std::string, Output>> input_map = {};
};
// Adds a meta graph to a graph: nodes, and collections (variables become Variable, nodes Operation or Output, bytes
// std::string, numbers int64_t and float). Returns its saver, if it has one. Throws InvalidArgument, DataLoss.
WEIR_API std::optional<Saver> import_meta_graph(Graph& graph, std::string_view meta_graph,
                                                const ImportMetaGraphOptions& options = {});
// The bytes of a file that holds a MetaGraphDef, binary or text.
WEIR_API std::string read_meta_graph(const std::string& path);

}  // namespace weir::train

#include "weir/saver.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "io/file.h"
#include "proto/saver.pb.h"
#include "train/saver_nodes.h"

namespace weir::train {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::vector<SaveItem> items_of(Graph& graph, const SaverOptions& options) {
  if (options.var_list) return *options.var_list;
  std::vector<SaveItem> items;
  for (const Variable& variable : graph.global_variables()) items.emplace_back(variable);
  for (const std::any& item : graph.collection("saveable_objects")) {
    if (const auto* variable = std::any_cast<Variable>(&item)) items.emplace_back(*variable);
  }
  return items;
}

// What a checkpoint has under the names of variables but with other shapes or types: a line for each of the first few.
std::string differences(const Graph& graph, const std::string& path) {
  constexpr int kShown = 5;
  std::string lines;
  int count = 0;
  const CheckpointReader reader(path);
  for (const Variable& variable : graph.global_variables()) {
    const CheckpointTensor* saved = reader.find(variable.name());
    if (!saved || (saved->dtype == variable.dtype() && saved->shape.compatible(variable.shape()))) continue;
    if (++count > kShown) break;
    lines +=
        fmt::format("\n  '{}' is {} {} in the graph and {} {} in the checkpoint", variable.name(),
                    dtype_name(variable.dtype()), variable.shape().str(), dtype_name(saved->dtype), saved->shape.str());
  }
  return count > kShown ? lines + "\n  ..." : lines;
}

}  // namespace

std::string SaverDef::serialize() const {
  proto::SaverDef message;
  message.set_filename_tensor_name(filename_tensor_name);
  message.set_save_tensor_name(save_tensor_name);
  message.set_restore_op_name(restore_op_name);
  message.set_max_to_keep(max_to_keep);
  message.set_sharded(sharded);
  message.set_keep_checkpoint_every_n_hours(keep_checkpoint_every_n_hours);
  message.set_version(static_cast<proto::SaverDef::CheckpointFormatVersion>(version));
  return message.SerializeAsString();
}

SaverDef SaverDef::parse(std::string_view bytes) {
  proto::SaverDef message;
  if (!message.ParseFromString(std::string(bytes))) throw invalid_argument("a SaverDef does not parse");
  return {.filename_tensor_name = message.filename_tensor_name(),
          .save_tensor_name = message.save_tensor_name(),
          .restore_op_name = message.restore_op_name(),
          .max_to_keep = message.max_to_keep(),
          .sharded = message.sharded(),
          .keep_checkpoint_every_n_hours = message.keep_checkpoint_every_n_hours(),
          .version = static_cast<Version>(message.version())};
}

Saver::Saver(Graph& graph, const SaverOptions& options, Where where)
    : graph_(&graph), pad_step_number_(options.pad_step_number), save_relative_paths_(options.save_relative_paths) {
  LineScope line(graph, source_line(where));
  const std::vector<SaveItem> items = items_of(graph, options);
  if (items.empty() && !options.allow_empty) throw invalid_argument("No variables to save");
  if (options.max_to_keep < 0) throw invalid_argument("max_to_keep is {}", options.max_to_keep);
  empty_ = items.empty();
  if (!empty_) def_ = build_saver_nodes(graph, items, options);
  next_kept_time_ = now() + options.keep_checkpoint_every_n_hours * 3600;
}

Saver::Saver(Graph& graph, const SaverDef& saver_def, bool empty, const SaverOptions& options)
    : graph_(&graph),
      def_(saver_def),
      empty_(empty),
      pad_step_number_(options.pad_step_number),
      save_relative_paths_(options.save_relative_paths),
      next_kept_time_(now() + saver_def.keep_checkpoint_every_n_hours * 3600.0) {}

Saver Saver::from_def(Graph& graph, const SaverDef& saver_def, const SaverOptions& options) {
  const bool empty = saver_def.save_tensor_name.empty() && saver_def.restore_op_name.empty();
  return Saver(graph, saver_def, empty, options);
}

std::string Saver::save(Session& session, const std::string& path, const SaveOptions& options) {
  if (options.latest_filename.find('/') != std::string::npos) {
    throw invalid_argument("'latest_filename' collides with a directory: '{}' is not a plain name",
                           options.latest_filename);
  }
  std::string prefix = path;
  if (options.global_step) {
    prefix += pad_step_number_ ? fmt::format("-{:08}", *options.global_step) : fmt::format("-{}", *options.global_step);
  } else if (!def_.sharded && std::filesystem::path(path).filename() == options.latest_filename) {
    // It would overwrite the file that names it.
    throw invalid_argument("'latest_filename' collides with 'save_path': '{}' and '{}'", options.latest_filename, path);
  }
  const std::lock_guard lock(*mutex_);
  if (!empty_) {
    Tensor saved = session.run(graph_->output(def_.save_tensor_name),
                               {{graph_->output(def_.filename_tensor_name), Tensor(prefix)}});
    prefix = saved.scalar<std::string>();
  }
  // The meta graph before the state: a checkpoint that is named has all its files.
  if (options.write_meta_graph) {
    const std::string meta = meta_graph_filename(prefix, options.meta_graph_suffix);
    io::create_directories(io::parent_directory(meta));
    write_meta_graph(meta, export_meta_graph({.strip_default_attrs = options.strip_default_attrs}));
  }
  if (empty_ || !options.write_state) return prefix;
  record(prefix);
  const std::vector<std::string> old = take_old();
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : slash == 0 ? "/" : path.substr(0, slash);
  update_checkpoint_state(directory, {.model_checkpoint_path = prefix, .all_model_checkpoint_paths = last_paths()},
                          {.save_relative_paths = save_relative_paths_, .latest_filename = options.latest_filename});
  // Nothing names these any more.
  for (const std::string& checkpoint : old) remove_checkpoint(checkpoint, options.meta_graph_suffix);
  return prefix;
}

void Saver::restore(Session& session, const std::string& path) {
  if (empty_) return;
  if (!checkpoint_exists(path)) throw invalid_argument("The passed save_path is not a valid checkpoint: {}", path);
  try {
    session.run(graph_->operation(def_.restore_op_name), {{graph_->output(def_.filename_tensor_name), Tensor(path)}});
  } catch (const Error& error) {
    if (error.code() != Code::InvalidArgument) throw;
    const std::string lines = differences(*graph_, path);
    if (lines.empty()) throw;
    throw Error(
        error.code(),
        fmt::format("Restoring from checkpoint failed: there is a mismatch between the graph and checkpoint '{}': {}{}",
                    path, error.message(), lines),
        error.op(), error.node(), error.line());
  }
}

void Saver::record(const std::string& path) {
  std::erase_if(last_, [&](const auto& checkpoint) { return checkpoint.first == path; });
  last_.emplace_back(path, now());
}

// Those beyond max_to_keep, without the ones that are kept for good.
std::vector<std::string> Saver::take_old() {
  std::vector<std::string> old;
  while (def_.max_to_keep > 0 && last_.size() > static_cast<size_t>(def_.max_to_keep)) {
    auto [path, time] = last_.front();
    last_.erase(last_.begin());
    if (time > next_kept_time_) {
      next_kept_time_ += def_.keep_checkpoint_every_n_hours * 3600.0;
    } else {
      old.push_back(path);
    }
  }
  return old;
}

std::vector<std::string> Saver::last_paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, time] : last_) paths.push_back(path);
  return paths;
}

std::vector<std::string> Saver::last_checkpoints() const {
  const std::lock_guard lock(*mutex_);
  return last_paths();
}

void Saver::set_last_checkpoints(const std::vector<std::string>& paths) {
  const std::lock_guard lock(*mutex_);
  last_.clear();
  for (const std::string& path : paths) last_.emplace_back(path, std::numeric_limits<double>::infinity());
}

void Saver::set_last_checkpoints_with_time(std::vector<std::pair<std::string, double>> paths) {
  const std::lock_guard lock(*mutex_);
  last_ = std::move(paths);
}

void Saver::recover_last_checkpoints(const std::vector<std::string>& paths) {
  const std::lock_guard lock(*mutex_);
  last_.clear();
  for (const std::string& path : paths) {
    const std::vector<double> times = get_checkpoint_mtimes({path});
    if (!times.empty()) last_.emplace_back(path, times[0]);
  }
}

std::string Saver::export_meta_graph(ExportMetaGraphOptions options) const {
  if (!empty_) options.saver_def = def_;
  return train::export_meta_graph(*graph_, options);
}

}  // namespace weir::train

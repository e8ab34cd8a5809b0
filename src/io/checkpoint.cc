#include "weir/checkpoint.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

#include "base/errors.h"
#include "io/checkpoint_v1.h"
#include "io/file.h"
#include "io/tensor_bundle.h"
#include "io/tensor_slice.h"
#include "io/text_proto.h"
#include "proto/checkpoint_state.pb.h"
#include "tensor/tensor_proto.h"

namespace weir::train {
namespace {

// "-00001-of-00002". In two parts, because "??-" in one would be a trigraph.
constexpr std::string_view kShard =
    "-?????"
    "-of-?????";

// Takes the special meaning of a name's characters in patterns away.
std::string escape_pattern(std::string_view name) {
  std::string escaped;
  for (char c : name) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) escaped.push_back('\\');
    escaped.push_back(c);
  }
  return escaped;
}

// The files of an unsharded or sharded V1 checkpoint that was saved under this name.
std::vector<std::string> v1_files(const std::string& path) {
  std::vector<std::string> files = io::match_files(path);
  return files.empty() ? io::match_files(fmt::format("{}{}", escape_pattern(path), kShard)) : files;
}

bool is_complete(const std::string& path) {
  try {
    if (io::file_exists(io::index_path(path))) {
      io::BundleReader(path).check_complete();
    } else {
      io::V1Reader reader(path);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string join(const std::string& directory, const std::string& name) {
  if (directory.empty() || name.starts_with('/')) return name;
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

// `path` as seen from `directory`; unchanged when it does not lie inside.
std::string relative_to(const std::string& directory, const std::string& path) {
  if (directory.empty()) return path;
  const std::string prefix = directory.ends_with('/') ? directory : directory + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

}  // namespace

struct CheckpointReader::Impl {
  // A V1 checkpoint when there is no index.
  explicit Impl(const std::string& path) {
    if (io::file_exists(io::index_path(path))) {
      bundle = std::make_unique<io::BundleReader>(path);
      list_bundle();
    } else {
      old = std::make_unique<io::V1Reader>(path);
      for (const auto& [name, stored] : old->tensors()) tensors.push_back({name, stored.dtype, stored.shape, 0});
    }
  }

  void list_bundle() {
    for (const auto& [key, entry] : bundle->entries()) {
      if (key.front() == '\0') continue;  // a slice of a tensor that is listed itself
      int64_t bytes = entry.size();
      for (const auto& slice : entry.slices()) {
        if (const auto* part = bundle->find(io::slice_key(key, io::TensorSlice(slice)))) bytes += part->size();
      }
      tensors.push_back({key, static_cast<DType>(entry.dtype()), shape_from_proto(entry.shape()), bytes});
    }
  }

  std::unique_ptr<io::BundleReader> bundle;
  std::unique_ptr<io::V1Reader> old;
  std::vector<CheckpointTensor> tensors;
};

CheckpointReader::CheckpointReader(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;

int CheckpointReader::version() const { return impl_->bundle ? 2 : 1; }
const std::vector<CheckpointTensor>& CheckpointReader::tensors() const { return impl_->tensors; }
bool CheckpointReader::has_tensor(std::string_view name) const { return find(name) != nullptr; }

const CheckpointTensor* CheckpointReader::find(std::string_view name) const {
  auto it = std::ranges::lower_bound(impl_->tensors, name, {}, &CheckpointTensor::name);
  return it != impl_->tensors.end() && it->name == name ? &*it : nullptr;
}

Tensor CheckpointReader::get_tensor(std::string_view name) const {
  return impl_->bundle ? impl_->bundle->read(name) : impl_->old->read(name);
}

Tensor CheckpointReader::get_slice(std::string_view name, std::string_view shape_and_slice) const {
  const CheckpointTensor* tensor = find(name);
  if (shape_and_slice.empty() || !tensor) return get_tensor(name);
  const auto [shape, slice] = io::parse_shape_and_slice(shape_and_slice);
  if (shape != tensor->shape) {
    throw invalid_argument("a slice of '{}' is wanted as of shape {}; in the checkpoint its shape is {}", name,
                           shape.str(), tensor->shape.str());
  }
  return impl_->bundle ? impl_->bundle->read_slice(name, slice) : impl_->old->read_slice(name, slice);
}

std::string CheckpointReader::debug_string() const {
  std::string text;
  for (const CheckpointTensor& tensor : impl_->tensors) {
    text += fmt::format("{} ({}) {}\n", tensor.name, proto::DataType_Name(static_cast<proto::DataType>(tensor.dtype)),
                        tensor.shape.str());
  }
  return text;
}

std::optional<CheckpointState> get_checkpoint_state(const std::string& directory, const std::string& latest_filename) {
  const std::string path = join(directory, latest_filename);
  proto::CheckpointState message;
  try {
    if (!io::file_exists(path) || !io::parse_text(io::read_file(path), message)) {
      return std::nullopt;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  if (message.model_checkpoint_path().empty()) return std::nullopt;
  CheckpointState state;
  state.model_checkpoint_path = join(directory, message.model_checkpoint_path());
  for (const std::string& p : message.all_model_checkpoint_paths()) {
    state.all_model_checkpoint_paths.push_back(join(directory, p));
  }
  state.all_model_checkpoint_timestamps.assign(message.all_model_checkpoint_timestamps().begin(),
                                               message.all_model_checkpoint_timestamps().end());
  state.last_preserved_timestamp = message.last_preserved_timestamp();
  return state;
}

void update_checkpoint_state(const std::string& directory, const CheckpointState& state,
                             const CheckpointStateOptions& options) {
  std::vector<std::string> all = state.all_model_checkpoint_paths;
  std::vector<double> times = state.all_model_checkpoint_timestamps;
  if (!times.empty() && times.size() != all.size()) {
    throw invalid_argument("{} timestamps are given for {} checkpoints", times.size(), all.size());
  }
  if (all.empty() || all.back() != state.model_checkpoint_path) all.push_back(state.model_checkpoint_path);
  const bool relative = options.save_relative_paths || !directory.starts_with('/');
  proto::CheckpointState message;
  auto written = [&](const std::string& path) { return relative ? relative_to(directory, path) : path; };
  message.set_model_checkpoint_path(written(state.model_checkpoint_path));
  for (const std::string& path : all) message.add_all_model_checkpoint_paths(written(path));
  if (times.size() == all.size()) message.mutable_all_model_checkpoint_timestamps()->Add(times.begin(), times.end());
  message.set_last_preserved_timestamp(state.last_preserved_timestamp);
  if (message.model_checkpoint_path() == options.latest_filename) {
    throw invalid_argument("the checkpoint and the file that names it have the same name '{}'",
                           options.latest_filename);
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  io::write_file_durably(join(directory, options.latest_filename), text);
}

std::optional<std::string> latest_checkpoint(const std::string& directory, const std::string& latest_filename) {
  const std::optional<CheckpointState> state = get_checkpoint_state(directory, latest_filename);
  if (!state) return std::nullopt;
  if (is_complete(state->model_checkpoint_path)) return state->model_checkpoint_path;
  const auto& all = state->all_model_checkpoint_paths;
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i] != state->model_checkpoint_path && is_complete(all[i])) return all[i];
  }
  return std::nullopt;
}

bool checkpoint_exists(const std::string& path) {
  return io::file_exists(io::index_path(path)) || !v1_files(path).empty();
}

std::vector<double> get_checkpoint_mtimes(const std::vector<std::string>& paths) {
  std::vector<double> times;
  for (const std::string& path : paths) {
    const std::string index = io::index_path(path);
    const std::vector<std::string> files = io::file_exists(index) ? std::vector{index} : v1_files(path);
    if (!files.empty()) times.push_back(static_cast<double>(io::modification_time_us(files[0])) * 1e-6);
  }
  return times;
}

std::string meta_graph_filename(std::string_view path, std::string_view meta_graph_suffix) {
  // "model.ckpt-?????-of-00002" of a sharded V1 checkpoint has the meta graph of "model.ckpt".
  const size_t of = path.rfind("-of-"), dash = of == std::string_view::npos ? of : path.rfind('-', of - 1);
  auto only = [](std::string_view text, std::string_view allowed) {
    return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
  };
  if (of != std::string_view::npos && of > 0 && dash != std::string_view::npos &&
      only(path.substr(dash + 1, of - dash - 1), "0123456789?") && only(path.substr(of + 4), "0123456789")) {
    path = path.substr(0, dash);
  }
  return fmt::format("{}.{}", path, meta_graph_suffix);
}

void remove_checkpoint(const std::string& path, std::string_view meta_graph_suffix) {
  io::remove_file(io::index_path(path));
  const std::string data = fmt::format("{}.data{}", escape_pattern(path), kShard);
  for (const std::string& file : io::match_files(data)) io::remove_file(file);
  for (const std::string& file : v1_files(path)) io::remove_file(file);
  io::remove_file(meta_graph_filename(path, meta_graph_suffix));
}

}  // namespace weir::train

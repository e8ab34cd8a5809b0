#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/tensor.h"

namespace weir::train {

// What a checkpoint holds under a name.
struct CheckpointTensor {
  std::string name;
  DType dtype = DType::Invalid;
  Shape shape;
  int64_t bytes = 0;  // in the file; 0 when the file does not say (V1)
};

// Reads TensorFlow's checkpoints: V2 ("<path>.index" and data files) and V1 (one file, or several by a pattern of the
// shell). Tensors that were saved in slices are read whole. Every checksum is verified.
//
// Thread-safe. Throws NotFound when there is no such checkpoint or tensor, DataLoss for damage (naming the file).
class WEIR_API CheckpointReader {
 public:
  explicit CheckpointReader(const std::string& path);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  int version() const;                                   // 1 or 2
  const std::vector<CheckpointTensor>& tensors() const;  // by name
  bool has_tensor(std::string_view name) const;
  // Null when there is none.
  const CheckpointTensor* find(std::string_view name) const;
  Tensor get_tensor(std::string_view name) const;
  // A part of a tensor; `shape_and_slice` as TensorFlow writes it: "4 2 0,2:-" is the first two rows of a 4x2 tensor.
  // Empty: the whole. Throws InvalidArgument when the tensor has another shape.
  Tensor get_slice(std::string_view name, std::string_view shape_and_slice) const;
  std::string debug_string() const;  // "weights (DT_FLOAT) [2,3]", a line for each

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// The file "checkpoint" of a directory: which checkpoints there are, oldest first, and which is the newest.
struct CheckpointState {
  std::string model_checkpoint_path;
  std::vector<std::string> all_model_checkpoint_paths = {};
  std::vector<double> all_model_checkpoint_timestamps = {};  // seconds since the epoch; empty or one for each path
  double last_preserved_timestamp = 0;                       // 0: not written
};
struct CheckpointStateOptions {
  bool save_relative_paths = false;
  std::string latest_filename = "checkpoint";
};

// Relative paths of the file are given relative to the working directory, as programs use them. Nothing when there is
// no file or it does not parse.
WEIR_API std::optional<CheckpointState> get_checkpoint_state(const std::string& directory,
                                                             const std::string& latest_filename = "checkpoint");
// Durably replaces the file. Paths are written relative to the directory when the directory's own path is relative or
// `save_relative_paths` asks for it, as TensorFlow does. The newest path is added at the end when it is not listed.
WEIR_API void update_checkpoint_state(const std::string& directory, const CheckpointState& state,
                                      const CheckpointStateOptions& options = {});
// The newest checkpoint of the directory whose files are all there and as long as they should be: the one that the file
// "checkpoint" names, or else the newest of the others. Nothing when there is none.
WEIR_API std::optional<std::string> latest_checkpoint(const std::string& directory,
                                                      const std::string& latest_filename = "checkpoint");
// Whether there are files of a checkpoint, V2 or V1; they are not examined.
WEIR_API bool checkpoint_exists(const std::string& path);
// When each was written, in seconds since the epoch; those that do not exist are left out.
WEIR_API std::vector<double> get_checkpoint_mtimes(const std::vector<std::string>& paths);
// "model.ckpt-10" -> "model.ckpt-10.meta".
WEIR_API std::string meta_graph_filename(std::string_view path, std::string_view meta_graph_suffix = "meta");
// Removes the files of a checkpoint (its index first, so that no reader finds half of one) and its meta graph.
WEIR_API void remove_checkpoint(const std::string& path, std::string_view meta_graph_suffix = "meta");

}  // namespace weir::train

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/table.h"
#include "io/tensor_slice.h"
#include "proto/saved_tensor_slice.pb.h"
#include "weir/tensor.h"

namespace weir::io {

// TensorFlow's old (V1) checkpoint: one table with the elements in protobuf messages, or several of them
// ("model.ckpt-00000-of-00002", read by the pattern "model.ckpt-?????-of-00002").

// Reads one. Throws NotFound when no file matches or a name is not there, DataLoss for damage. Thread-safe.
class V1Reader {
 public:
  struct Stored {
    DType dtype = DType::Invalid;
    Shape shape;
    std::vector<std::pair<TensorSlice, const TableReader*>> slices;  // as written
  };
  using Tensors = std::map<std::string, Stored, std::less<>>;

  explicit V1Reader(std::string pattern);
  const Tensors& tensors() const { return tensors_; }
  Tensor read(std::string_view name) const;
  Tensor read_slice(std::string_view name, const TensorSlice& slice) const;

 private:
  const Stored& require(std::string_view name) const;
  Tensor read_stored(const std::string& name, const Stored& stored, const TensorSlice& slice,
                     const TableReader& table) const;

  std::string pattern_;
  std::vector<std::unique_ptr<TableReader>> tables_;
  Tensors tensors_;
};

// Writes one, in one file that appears whole or not at all.
class V1Writer {
 public:
  explicit V1Writer(const std::string& path) : file_(path) {}
  // Throws InvalidArgument when the slice was given before or contradicts an earlier one of the same name.
  void add_slice(const std::string& name, const Shape& full_shape, const TensorSlice& slice, const Tensor& tensor);
  void finish();

 private:
  DurableFile file_;
  std::map<std::string, proto::SavedSliceMeta> metas_;
  std::map<std::string, std::string> values_;  // serialised, by key
};

}  // namespace weir::io

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"
#include "io/tensor_slice.h"
#include "proto/tensor_bundle.pb.h"
#include "weir/dtype.h"
#include "weir/shape.h"
#include "weir/tensor.h"

namespace weir::io {

// TensorFlow's V2 checkpoint: "<prefix>.index", a table of what there is, and "<prefix>.data-00000-of-00001" with the
// elements. A tensor may be kept in slices (partitioned variables): an entry without data lists them.

std::string index_path(std::string_view prefix);
std::string data_path(std::string_view prefix, int shard, int shards);

// Writes a checkpoint, into a directory that is made if need be, that appears whole or not at all, when finish()
// renames the index. An older checkpoint of the same prefix is there until then: the data file of the new one has
// another name (it is counted as one of 2 shards instead of one of 1, or the other way round), which every reader
// follows.
class BundleWriter {
 public:
  explicit BundleWriter(std::string prefix);

  // Throws InvalidArgument when the name was given before, Unimplemented for handles and variants.
  void add(std::string_view name, const Tensor& tensor);
  // A part of the tensor `name` of shape `full_shape`; may be called for several parts.
  void add_slice(std::string_view name, const Shape& full_shape, const TensorSlice& slice, const Tensor& tensor);
  void finish();

 private:
  std::string prefix_;
  int shards_;
  DurableFile data_;
  std::map<std::string, proto::BundleEntryProto, std::less<>> entries_;
};

// Makes one checkpoint of several: their data files are renamed, in order, to shards of `destination`. Used when
// several devices save their variables each. Throws InvalidArgument when two hold the same tensor (slices aside).
void merge_bundles(std::span<const std::string> prefixes, const std::string& destination);

// Reads a checkpoint. The index is read and verified when it is opened, data when it is asked for. Throws DataLoss for
// damage, naming the file, NotFound for missing files and names, Unimplemented for files of big-endian machines.
// Thread-safe.
class BundleReader {
 public:
  using Entries = std::map<std::string, proto::BundleEntryProto, std::less<>>;

  explicit BundleReader(std::string prefix);

  // All entries by key; keys of slices begin with a zero byte.
  const Entries& entries() const { return entries_; }
  int shards() const { return shards_; }
  // Null when there is no tensor of that name.
  const proto::BundleEntryProto* find(std::string_view name) const;
  Tensor read(std::string_view name) const;
  // A part of a tensor, whatever slices it is kept in.
  Tensor read_slice(std::string_view name, const TensorSlice& slice) const;
  // Throws when a data file is missing or shorter than the index says. Reads no data.
  void check_complete() const;

 private:
  Entries::const_iterator require(std::string_view name) const;
  const RandomAccessFile& data_file(int shard) const;
  // The file that holds an entry's data; throws DataLoss when it ends before.
  const RandomAccessFile& require_data(const std::string& key, const proto::BundleEntryProto& entry) const;
  void check_entry(const std::string& key, const proto::BundleEntryProto& entry) const;
  Tensor read_entry(const std::string& key, const proto::BundleEntryProto& entry) const;
  [[noreturn]] void damaged(std::string_view path, const std::string& key, std::string_view what) const;

  std::string prefix_;
  int shards_ = 1;
  Entries entries_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<RandomAccessFile>> files_;  // guarded by mutex_
};

}  // namespace weir::io

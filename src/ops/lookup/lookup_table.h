#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/kernel.h"

namespace weir::ops {

// Values by key. Keys and values have one type each, and one shape each: scalars, or vectors of numbers. Kept by the
// bytes of the key, so that all types share one implementation.
//
// Thread-safe.
class LookupTable final : public Resource {
 public:
  enum class Kind {
    Fixed,    // filled once, and asked only after that
    Mutable,  // changes at any time
    Dense,    // mutable; two keys that are set apart never occur in it, and export gives whole buckets
  };
  struct Options {
    Kind kind = Kind::Fixed;
    std::string name;
    DType key_type = DType::Invalid, value_type = DType::Invalid;
    Shape value_shape = {};
    int64_t buckets = 0;  // of a dense one
    double max_load = 1;
  };
  explicit LookupTable(Options options);

  std::string describe() const override { return "table '" + options_.name + "'"; }
  const Options& options() const { return options_; }

  // Throws InvalidArgument when another node asks for a table of this name that differs.
  void check_types(DType key_type, DType value_type) const;
  // Dense tables: the keys that are set apart, and by their shape that of all keys. `deleted` may be invalid.
  void set_apart(const Tensor& empty, const Tensor& deleted);

  // Fills a fixed table. A second time throws FailedPrecondition unless there are as many keys as before.
  void initialize(const Tensor& keys, const Tensor& values);
  // The value of each key, or the default one. Throws FailedPrecondition for a fixed table that is not filled yet.
  Tensor find(const Tensor& keys, const Tensor& default_value) const;
  void insert(const Tensor& keys, const Tensor& values);
  void remove(const Tensor& keys);
  // Replaces everything; a fixed table is filled.
  void import(const Tensor& keys, const Tensor& values);
  std::pair<Tensor, Tensor> export_all() const;
  int64_t size() const;

 private:
  Shape key_shape() const { return key_shape_; }
  std::string key_at(const Tensor& keys, int64_t i) const;
  void put_key(const std::string& key, Tensor& keys, int64_t i) const;
  void copy_value(Tensor& to, int64_t at, const Tensor& from, int64_t index) const;
  int64_t check_pairs(const Tensor& keys, const Tensor& values) const;
  int64_t key_count(const Tensor& keys) const;
  void check_apart(const std::string& key) const;
  // REQUIRES: mutex_ is held.
  void put(const std::string& key, const Tensor& values, int64_t index);
  void reserve_value();
  void require_filled() const;

  const Options options_;
  mutable std::mutex mutex_;
  Shape key_shape_ = {};
  std::string empty_, deleted_;
  bool apart_ = false, has_deleted_ = false, filled_ = false;
  int64_t buckets_;
  std::unordered_map<std::string, int64_t> places_;  // in values_
  Tensor values_;                                    // [capacity, value shape...]
  std::vector<int64_t> free_;
  int64_t used_ = 0;
};

}  // namespace weir::ops

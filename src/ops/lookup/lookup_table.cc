#include "ops/lookup/lookup_table.h"

#include <bit>
#include <cstring>

#include "base/errors.h"
#include "ops/array/element_type.h"

namespace weir::ops {
namespace {

Error failed_precondition(const std::string& message) { return Error(Code::FailedPrecondition, message); }

Shape with_front(int64_t front, const Shape& rest) {
  Shape shape{front};
  for (int64_t size : rest.dims()) shape.append(size);
  return shape;
}

bool ends_with(const Shape& shape, const Shape& end) {
  if (shape.rank() < end.rank()) return false;
  for (int d = 1; d <= end.rank(); ++d) {
    if (shape[-d] != end[-d]) return false;
  }
  return true;
}

}  // namespace

LookupTable::LookupTable(Options options)
    : options_(std::move(options)),
      buckets_(options_.buckets),
      values_(options_.value_type, with_front(0, options_.value_shape)) {
  if (options_.kind == Kind::Dense) {
    if (buckets_ <= 0 || !std::has_single_bit(static_cast<uint64_t>(buckets_))) {
      throw invalid_argument("Number of buckets must be at least 4 and a power of 2, got: {}", buckets_);
    }
    if (!(options_.max_load > 0 && options_.max_load < 1)) {
      throw invalid_argument("max_load_factor must be between 0 and 1, got: {}", options_.max_load);
    }
  }
}

void LookupTable::check_types(DType key_type, DType value_type) const {
  if (key_type != options_.key_type || value_type != options_.value_type) {
    throw invalid_argument("Conflicting key/value dtypes {}->{} with {}->{} for table {}", dtype_name(key_type),
                           dtype_name(value_type), dtype_name(options_.key_type), dtype_name(options_.value_type),
                           options_.name);
  }
}

std::string LookupTable::key_at(const Tensor& keys, int64_t i) const {
  if (options_.key_type == DType::String) return keys.data<std::string>()[static_cast<size_t>(i)];
  const size_t bytes = static_cast<size_t>(key_shape_.elements()) * dtype_size(options_.key_type);
  return {static_cast<const char*>(keys.raw()) + static_cast<size_t>(i) * bytes, bytes};
}

void LookupTable::put_key(const std::string& key, Tensor& keys, int64_t i) const {
  if (options_.key_type == DType::String) {
    keys.mutable_data<std::string>()[i] = key;
  } else {
    std::memcpy(static_cast<char*>(keys.mutable_raw()) + static_cast<size_t>(i) * key.size(), key.data(), key.size());
  }
}

void LookupTable::copy_value(Tensor& to, int64_t at, const Tensor& from, int64_t index) const {
  const int64_t size = options_.value_shape.elements();
  with_element_type(options_.value_type, [&]<class T>(T) {
    std::copy_n(static_cast<const T*>(from.raw()) + index * size, size, static_cast<T*>(to.mutable_raw()) + at * size);
  });
}

int64_t LookupTable::key_count(const Tensor& keys) const {
  if (keys.dtype() != options_.key_type) {
    throw invalid_argument("Key must be type {} but got {}", dtype_name(options_.key_type), dtype_name(keys.dtype()));
  }
  // Dense tables take vectors of keys only, as in TensorFlow.
  const bool fits = options_.kind != Kind::Dense || keys.shape().rank() == key_shape_.rank() + 1;
  if (!fits || !ends_with(keys.shape(), key_shape_)) {
    throw invalid_argument("Expected key shape {} for table {}; got {}", key_shape_.str(), options_.name,
                           keys.shape().str());
  }
  const int64_t size = key_shape_.elements();
  return size == 0 ? 0 : keys.elements() / size;
}

int64_t LookupTable::check_pairs(const Tensor& keys, const Tensor& values) const {
  const int64_t count = key_count(keys);
  if (values.dtype() != options_.value_type) {
    throw invalid_argument("Value must be type {} but got {}", dtype_name(options_.value_type),
                           dtype_name(values.dtype()));
  }
  Shape expected;
  for (int d = 0; d < keys.shape().rank() - key_shape_.rank(); ++d) expected.append(keys.shape()[d]);
  for (int64_t size : options_.value_shape.dims()) expected.append(size);
  if (!(values.shape() == expected)) {
    throw invalid_argument("Expected shape {} for value, got {}", expected.str(), values.shape().str());
  }
  return count;
}

void LookupTable::check_apart(const std::string& key) const {
  if (options_.kind != Kind::Dense) return;
  if (!apart_) throw failed_precondition("Table not initialized.");
  if (key == empty_) throw invalid_argument("Using the empty_key as a table key is not allowed");
  if (has_deleted_ && key == deleted_) throw invalid_argument("Using the deleted_key as a table key is not allowed");
}

void LookupTable::set_apart(const Tensor& empty, const Tensor& deleted) {
  if (empty.shape().rank() > 1) {
    throw invalid_argument("Empty key must be a scalar or a vector, got shape {}", empty.shape().str());
  }
  std::lock_guard lock(mutex_);
  if (apart_) return;
  key_shape_ = empty.shape();
  empty_ = key_at(empty, 0);
  if (deleted.valid()) {
    if (!(deleted.shape() == empty.shape())) {
      throw invalid_argument("Empty and deleted keys must have same shape, got shapes: {} and {}", empty.shape().str(),
                             deleted.shape().str());
    }
    deleted_ = key_at(deleted, 0);
    if (deleted_ == empty_) throw invalid_argument("Empty and deleted keys cannot be equal");
    has_deleted_ = true;
  }
  apart_ = true;
}

void LookupTable::reserve_value() {
  const int64_t capacity = values_.shape()[0];
  if (used_ < capacity) return;
  Tensor more(options_.value_type,
              with_front(std::max<int64_t>(16, checked_multiply(capacity, 2)), options_.value_shape));
  for (int64_t i = 0; i < used_; ++i) copy_value(more, i, values_, i);
  values_ = std::move(more);
}

void LookupTable::put(const std::string& key, const Tensor& values, int64_t index) {
  const auto found = places_.find(key);
  int64_t place = 0;
  if (found != places_.end()) {
    place = found->second;
  } else if (!free_.empty()) {
    place = free_.back();
    free_.pop_back();
    places_.emplace(key, place);
  } else {
    reserve_value();
    place = used_++;
    places_.emplace(key, place);
  }
  copy_value(values_, place, values, index);
  while (options_.kind == Kind::Dense &&
         static_cast<double>(places_.size()) > options_.max_load * static_cast<double>(buckets_)) {
    buckets_ *= 2;
  }
}

void LookupTable::initialize(const Tensor& keys, const Tensor& values) {
  const int64_t count = check_pairs(keys, values);
  std::lock_guard lock(mutex_);
  if (options_.kind != Kind::Fixed) throw invalid_argument("table {} is filled by inserting", options_.name);
  if (filled_) {
    if (count == static_cast<int64_t>(places_.size())) return;
    throw failed_precondition("Table already initialized with different data.");
  }
  for (int64_t i = 0; i < count; ++i) {
    const std::string key = key_at(keys, i);
    const auto found = places_.find(key);
    if (found == places_.end()) {
      put(key, values, i);
      continue;
    }
    bool same = false;
    with_element_type(options_.value_type, [&]<class T>(T) {
      same = std::memcmp(static_cast<const T*>(values_.raw()) + found->second, static_cast<const T*>(values.raw()) + i,
                         sizeof(T)) == 0;
      if constexpr (std::is_same_v<T, std::string>) {
        same = static_cast<const T*>(values_.raw())[found->second] == static_cast<const T*>(values.raw())[i];
      }
    });
    if (!same) {
      Tensor one(options_.key_type, Shape{1});
      put_key(key, one, 0);
      places_.clear();
      used_ = 0;
      throw failed_precondition("HashTable has different value for same key. Key " + one.str() +
                                " has one already and another is to be added");
    }
  }
  filled_ = true;
}

void LookupTable::require_filled() const {
  if (options_.kind == Kind::Fixed && !filled_) throw failed_precondition("Table not initialized.");
}

Tensor LookupTable::find(const Tensor& keys, const Tensor& default_value) const {
  const int64_t count = key_count(keys);
  if (default_value.dtype() != options_.value_type) {
    throw invalid_argument("Default value must be type {} but got {}", dtype_name(options_.value_type),
                           dtype_name(default_value.dtype()));
  }
  if (!(default_value.shape() == options_.value_shape)) {
    throw invalid_argument(
        "{}Expected shape {} for default value, got {}",
        options_.value_shape.rank() == 1 && default_value.shape().rank() != 1 ? "Default value must be a vector. " : "",
        options_.value_shape.str(), default_value.shape().str());
  }
  Shape shape;
  for (int d = 0; d < keys.shape().rank() - key_shape_.rank(); ++d) shape.append(keys.shape()[d]);
  for (int64_t size : options_.value_shape.dims()) shape.append(size);
  Tensor result(options_.value_type, shape);
  std::lock_guard lock(mutex_);
  require_filled();
  for (int64_t i = 0; i < count; ++i) {
    const std::string key = key_at(keys, i);
    check_apart(key);
    const auto found = places_.find(key);
    if (found == places_.end()) {
      copy_value(result, i, default_value, 0);
    } else {
      copy_value(result, i, values_, found->second);
    }
  }
  return result;
}

void LookupTable::insert(const Tensor& keys, const Tensor& values) {
  const int64_t count = check_pairs(keys, values);
  std::lock_guard lock(mutex_);
  if (options_.kind == Kind::Fixed) {
    throw Error(Code::Unimplemented, "Insert not supported by InitializableLookupTable implementations");
  }
  for (int64_t i = 0; i < count; ++i) check_apart(key_at(keys, i));
  for (int64_t i = 0; i < count; ++i) put(key_at(keys, i), values, i);
}

void LookupTable::remove(const Tensor& keys) {
  const int64_t count = key_count(keys);
  std::lock_guard lock(mutex_);
  if (options_.kind == Kind::Fixed) {
    throw Error(Code::Unimplemented, "Remove not supported by InitializableLookupTable implementations");
  }
  for (int64_t i = 0; i < count; ++i) {
    const std::string key = key_at(keys, i);
    check_apart(key);
    const auto found = places_.find(key);
    if (found == places_.end()) continue;
    free_.push_back(found->second);
    places_.erase(found);
  }
}

void LookupTable::import(const Tensor& keys, const Tensor& values) {
  if (options_.kind == Kind::Fixed) return initialize(keys, values);
  const int64_t count = check_pairs(keys, values);
  std::lock_guard lock(mutex_);
  places_.clear();
  free_.clear();
  used_ = 0;
  if (options_.kind == Kind::Dense) {
    if (!apart_) throw failed_precondition("Table not initialized.");
    buckets_ = options_.buckets;
  }
  for (int64_t i = 0; i < count; ++i) {
    const std::string key = key_at(keys, i);
    if (options_.kind == Kind::Dense && (key == empty_ || (has_deleted_ && key == deleted_))) continue;
    put(key, values, i);
  }
}

std::pair<Tensor, Tensor> LookupTable::export_all() const {
  std::lock_guard lock(mutex_);
  require_filled();
  if (options_.kind == Kind::Dense && !apart_) throw failed_precondition("Table not initialized.");
  const auto count = static_cast<int64_t>(places_.size());
  const int64_t rows = options_.kind == Kind::Dense ? buckets_ : count;
  Tensor keys(options_.key_type, with_front(rows, key_shape_));
  Tensor values = Tensor::zeros(options_.value_type, with_front(rows, options_.value_shape));
  int64_t i = 0;
  for (const auto& [key, place] : places_) {
    put_key(key, keys, i);
    copy_value(values, i++, values_, place);
  }
  for (; i < rows; ++i) put_key(empty_, keys, i);
  return {std::move(keys), std::move(values)};
}

int64_t LookupTable::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(places_.size());  // 0 before the table is initialised, as in TensorFlow
}

}  // namespace weir::ops

#include "io/tensor_bundle.h"

#include <bit>
#include <cstring>
#include <optional>
#include <set>

#include "base/crc32c.h"
#include "base/errors.h"
#include "io/table.h"
#include "io/varint.h"
#include "tensor/encoded_variant.h"
#include "tensor/tensor_proto.h"

static_assert(std::endian::native == std::endian::little, "files are written as memory is: little-endian");

namespace weir::io {
namespace {

// Of TensorFlow's bundle format.
constexpr int kVersion = 1, kMinConsumer = 0;

bool storable(DType dtype) { return dtype == DType::Variant || (dtype_size(dtype) > 0 && dtype != DType::Resource); }

std::string_view bytes_of(const Tensor& tensor) { return {static_cast<const char*>(tensor.raw()), tensor.bytes()}; }

// The number of shards of the checkpoint that stands under this prefix; 0 when none does, or none that can be read.
int existing_shards(const std::string& prefix) {
  if (!file_exists(index_path(prefix))) return 0;
  try {
    return BundleReader(prefix).shards();
  } catch (const Error&) {
    return 0;
  }
}

// At least `shards`, and other names than those of the checkpoint that stands there.
int free_shards(const std::string& prefix, int shards) {
  return existing_shards(prefix) == shards ? shards + 1 : shards;
}

// The prefix, once there is a directory for its files.
std::string with_directory(std::string prefix) {
  create_directories(parent_directory(prefix));
  return prefix;
}

// The step that makes a checkpoint exist. What data an older one of the prefix had goes afterwards.
void write_index(const std::string& prefix, int shards, const BundleReader::Entries& entries) {
  const int replaced = existing_shards(prefix);
  DurableFile file(index_path(prefix));
  TableWriter table(file);
  proto::BundleHeaderProto header;
  header.set_num_shards(shards);
  header.mutable_version()->set_producer(kVersion);
  if constexpr (kMinConsumer > 0) header.mutable_version()->set_min_consumer(kMinConsumer);
  table.add("", header.SerializeAsString());
  for (const auto& [key, entry] : entries) table.add(key, entry.SerializeAsString());
  table.finish();
  file.commit();
  if (replaced != shards) {
    for (int i = 0; i < replaced; ++i) remove_file(data_path(prefix, i, replaced));
  }
}

// Strings: their lengths as varints, a checksum of the lengths (as fixed numbers), their bytes. Returns the checksum of
// all of it.
uint32_t append_strings(DurableFile& file, const Tensor& tensor) {
  uint32_t crc = 0;
  std::string lengths, fixed;
  for (const std::string& text : tensor.data<std::string>()) {
    put_varint(lengths, text.size());
    if (text.size() <= UINT32_MAX) {
      put_fixed(fixed, static_cast<uint32_t>(text.size()));
    } else {
      put_fixed(fixed, static_cast<uint64_t>(text.size()));
    }
  }
  crc = crc32c(fixed);
  file.append(lengths);
  std::string checksum;
  put_fixed(checksum, mask_crc(crc));
  crc = crc32c(checksum, crc);
  file.append(checksum);
  for (const std::string& text : tensor.data<std::string>()) {
    file.append(text);
    crc = crc32c(text, crc);
  }
  return crc;
}

// Fills `tensor` from what append_strings wrote, and gives the checksum; nothing when the bytes do not make sense.
std::optional<uint32_t> take_strings(std::string_view bytes, Tensor& tensor) {
  std::string fixed;
  std::vector<uint64_t> lengths;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const auto length = take_varint(bytes);
    if (!length) return std::nullopt;
    lengths.push_back(*length);
    if (*length <= UINT32_MAX) {
      put_fixed(fixed, static_cast<uint32_t>(*length));
    } else {
      put_fixed(fixed, *length);
    }
  }
  uint32_t crc = crc32c(fixed);
  if (bytes.size() < sizeof crc || unmask_crc(get_fixed<uint32_t>(bytes)) != crc) return std::nullopt;
  crc = crc32c(bytes.substr(0, sizeof crc), crc);
  bytes.remove_prefix(sizeof crc);
  auto* out = tensor.mutable_data<std::string>();
  for (uint64_t length : lengths) {
    if (length > bytes.size()) return std::nullopt;
    *out++ = bytes.substr(0, length);
    crc = crc32c(bytes.substr(0, length), crc);
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) return std::nullopt;
  return crc;
}

// Variants: for each the length of its message as a varint, the message, and the checksum of all so far, in which
// lengths are fixed numbers. Returns the checksum of all of it. Throws Unimplemented for objects that only the process
// knows.
uint32_t append_variants(DurableFile& file, std::string_view name, const Tensor& tensor) {
  uint32_t crc = 0;
  const auto* elements = static_cast<const Variant*>(tensor.raw());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const auto* object = dynamic_cast<const EncodedVariant*>(elements[i].get());
    if (!object) throw error(Code::Unimplemented, "'{}' of type variant cannot be saved", name);
    proto::VariantTensorDataProto message;
    message.set_type_name(object->kind());
    message.set_metadata(object->bytes());
    const std::string bytes = message.SerializeAsString();
    std::string length, fixed, checksum;
    put_varint(length, bytes.size());
    put_fixed(fixed, static_cast<uint64_t>(bytes.size()));
    crc = crc32c(bytes, crc32c(fixed, crc));
    put_fixed(checksum, mask_crc(crc));
    crc = crc32c(checksum, crc);
    file.append(length);
    file.append(bytes);
    file.append(checksum);
  }
  return crc;
}

// Fills `tensor` from what append_variants wrote, and gives the checksum; nothing when the bytes do not make sense.
std::optional<uint32_t> take_variants(std::string_view bytes, Tensor& tensor) {
  uint32_t crc = 0;
  auto* elements = static_cast<Variant*>(tensor.mutable_raw());
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const auto length = take_varint(bytes);
    if (!length || *length > INT32_MAX || bytes.size() < sizeof crc || *length > bytes.size() - sizeof crc) return {};
    std::string fixed;
    put_fixed(fixed, *length);
    crc = crc32c(bytes.substr(0, *length), crc32c(fixed, crc));
    proto::VariantTensorDataProto message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(*length))) return std::nullopt;
    bytes.remove_prefix(*length);
    if (unmask_crc(get_fixed<uint32_t>(bytes)) != crc) return std::nullopt;
    crc = crc32c(bytes.substr(0, sizeof crc), crc);
    bytes.remove_prefix(sizeof crc);
    elements[i] = std::make_shared<const EncodedVariant>(message.type_name(), message.metadata());
  }
  if (!bytes.empty()) return std::nullopt;
  return crc;
}

}  // namespace

std::string index_path(std::string_view prefix) { return fmt::format("{}.index", prefix); }

std::string data_path(std::string_view prefix, int shard, int shards) {
  return fmt::format("{}.data-{:05}-of-{:05}", prefix, shard, shards);
}

BundleWriter::BundleWriter(std::string prefix)
    : prefix_(with_directory(std::move(prefix))),
      shards_(free_shards(prefix_, 1)),
      data_(data_path(prefix_, 0, shards_)) {}

void BundleWriter::add(std::string_view name, const Tensor& tensor) {
  if (!storable(tensor.dtype())) {
    throw error(Code::Unimplemented, "'{}' of type {} cannot be saved", name, dtype_name(tensor.dtype()));
  }
  if (name.empty()) throw invalid_argument("a tensor in a checkpoint needs a name");
  auto [it, added] = entries_.try_emplace(std::string(name));
  if (!added) throw invalid_argument("'{}' is saved twice to '{}'", name, prefix_);
  proto::BundleEntryProto& entry = it->second;
  entry.set_dtype(static_cast<proto::DataType>(tensor.dtype()));
  shape_to_proto(tensor.shape(), *entry.mutable_shape());
  const uint64_t offset = data_.size();
  entry.set_offset(static_cast<int64_t>(offset));
  uint32_t crc = 0;
  if (tensor.dtype() == DType::String) {
    crc = append_strings(data_, tensor);
  } else if (tensor.dtype() == DType::Variant) {
    crc = append_variants(data_, name, tensor);
  } else {
    data_.append(bytes_of(tensor));
    crc = crc32c(bytes_of(tensor));
  }
  entry.set_size(static_cast<int64_t>(data_.size() - offset));
  entry.set_crc32c(mask_crc(crc));
}

void BundleWriter::add_slice(std::string_view name, const Shape& full_shape, const TensorSlice& slice,
                             const Tensor& tensor) {
  const TensorSlice resolved = slice.resolved(full_shape);
  if (resolved.shape() != tensor.shape()) {
    throw invalid_argument("the slice {} of '{}' has shape {}; a tensor of shape {} came", slice.str(), name,
                           resolved.shape().str(), tensor.shape().str());
  }
  if (resolved.covers(full_shape)) return add(name, tensor);
  proto::BundleEntryProto& whole = entries_[std::string(name)];
  if (whole.slices_size() == 0) {
    if (whole.dtype() != proto::DT_INVALID) throw invalid_argument("'{}' is saved twice to '{}'", name, prefix_);
    whole.set_dtype(static_cast<proto::DataType>(tensor.dtype()));
    shape_to_proto(full_shape, *whole.mutable_shape());
  } else if (whole.dtype() != static_cast<proto::DataType>(tensor.dtype()) ||
             shape_from_proto(whole.shape()) != full_shape) {
    throw invalid_argument("slices of '{}' differ in type or in the shape of the whole", name);
  }
  slice.to_proto(*whole.add_slices());
  add(slice_key(name, slice), tensor);
}

void BundleWriter::finish() {
  data_.commit();
  write_index(prefix_, shards_, entries_);
}

void merge_bundles(std::span<const std::string> prefixes, const std::string& destination) {
  BundleReader::Entries merged;
  int shards = 0;
  std::vector<std::string> data;  // of all shards, in order
  for (const std::string& prefix : prefixes) {
    const BundleReader bundle(prefix);
    bundle.check_complete();
    for (const auto& [key, entry] : bundle.entries()) {
      auto [it, added] = merged.try_emplace(key, entry);
      if (added) {
        it->second.set_shard_id(shards + entry.shard_id());
      } else if (entry.slices_size() > 0 && it->second.slices_size() > 0 && entry.dtype() == it->second.dtype() &&
                 shape_from_proto(entry.shape()) == shape_from_proto(it->second.shape())) {
        it->second.mutable_slices()->MergeFrom(entry.slices());
      } else {
        throw invalid_argument("'{}' and another checkpoint to be merged into '{}' hold the same tensor '{}'", prefix,
                               destination, key);
      }
    }
    for (int i = 0; i < bundle.shards(); ++i) data.push_back(data_path(prefix, i, bundle.shards()));
    shards += bundle.shards();
  }
  const int total = free_shards(destination, shards);
  for (int i = 0; i < shards; ++i) {
    // A shard that is named by no entry need not exist.
    if (file_exists(data[static_cast<size_t>(i)])) {
      rename_file(data[static_cast<size_t>(i)], data_path(destination, i, total));
    }
  }
  sync_directory(parent_directory(destination));
  write_index(destination, total, merged);
  for (const std::string& prefix : prefixes) remove_file(index_path(prefix));
}

BundleReader::BundleReader(std::string prefix) : prefix_(std::move(prefix)) {
  const TableReader table(index_path(prefix_));
  bool has_header = false;
  table.for_each([&](std::string_view key, std::string_view value) {
    if (key.empty()) {
      proto::BundleHeaderProto header;
      if (!header.ParseFromArray(value.data(), static_cast<int>(value.size())) || header.num_shards() < 1 ||
          header.num_shards() > 99999) {
        damaged(table.path(), "", "its header does not parse");
      }
      if (header.endianness() != proto::BundleHeaderProto::LITTLE) {
        throw error(Code::Unimplemented, "the checkpoint '{}' was written on a big-endian machine", prefix_);
      }
      if (header.version().min_consumer() > kVersion) {
        throw error(Code::Unimplemented, "the checkpoint '{}' is of a format that needs version {}; this is {}",
                    prefix_, header.version().min_consumer(), kVersion);
      }
      shards_ = header.num_shards();
      has_header = true;
      return;
    }
    proto::BundleEntryProto entry;
    if (!entry.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      damaged(table.path(), std::string(key), "an entry does not parse");
    }
    check_entry(std::string(key), entry);
    entries_.emplace_hint(entries_.end(), key, std::move(entry));
  });
  if (!has_header) damaged(table.path(), "", "it has no header");
}

void BundleReader::damaged(std::string_view path, const std::string& key, std::string_view what) const {
  if (key.empty()) throw error(Code::DataLoss, "the file '{}' is damaged: {}", path, what);
  throw error(Code::DataLoss, "the file '{}' is damaged: {} (tensor '{}')", path, what, key);
}

void BundleReader::check_entry(const std::string& key, const proto::BundleEntryProto& entry) const {
  const std::string path = index_path(prefix_);
  const auto dtype = static_cast<DType>(entry.dtype());
  int64_t elements = 0, bytes = 0;
  try {
    elements = shape_from_proto(entry.shape()).elements();
    if (elements >= 0)
      bytes = checked_multiply(elements, std::max<int64_t>(1, static_cast<int64_t>(dtype_size(dtype))));
  } catch (const Error&) {
    damaged(path, key, "a shape makes no sense");
  }
  if (elements < 0) damaged(path, key, "a shape makes no sense");
  if (entry.slices_size() > 0) return;
  if (entry.shard_id() < 0 || entry.shard_id() >= shards_) damaged(path, key, "a shard number is too large");
  if (entry.offset() < 0 || entry.size() < 0 || entry.offset() > INT64_MAX - entry.size()) {
    damaged(path, key, "a position makes no sense");
  }
  // A string or variant takes at least the byte of its length. Types that Weir does not know are listed but cannot be
  // read.
  const bool has_lengths = dtype == DType::String || dtype == DType::Variant;
  const bool fits = has_lengths ? elements <= entry.size() : !storable(dtype) || bytes == entry.size();
  if (!fits) damaged(path, key, "the size of the data does not fit the shape");
}

const proto::BundleEntryProto* BundleReader::find(std::string_view name) const {
  auto it = entries_.find(name);
  return it == entries_.end() || name.empty() ? nullptr : &it->second;
}

BundleReader::Entries::const_iterator BundleReader::require(std::string_view name) const {
  auto it = entries_.find(name);
  if (it == entries_.end()) throw not_found("Key {} not found in checkpoint '{}'", name, prefix_);
  return it;
}

const RandomAccessFile& BundleReader::data_file(int shard) const {
  std::lock_guard lock(mutex_);
  auto& file = files_[shard];
  if (!file) file = std::make_unique<RandomAccessFile>(data_path(prefix_, shard, shards_));
  return *file;
}

void BundleReader::check_complete() const {
  for (const auto& [key, entry] : entries_) {
    if (entry.slices_size() > 0) {
      for (const auto& slice : entry.slices()) require(slice_key(key, TensorSlice(slice)));
      continue;
    }
    require_data(key, entry);
  }
}

const RandomAccessFile& BundleReader::require_data(const std::string& key, const proto::BundleEntryProto& entry) const {
  const RandomAccessFile& file = data_file(entry.shard_id());
  if (static_cast<uint64_t>(entry.offset() + entry.size()) > file.size()) {
    damaged(file.path(), key, "it is cut short");
  }
  return file;
}

Tensor BundleReader::read_entry(const std::string& key, const proto::BundleEntryProto& entry) const {
  const auto dtype = static_cast<DType>(entry.dtype());
  if (!storable(dtype)) {
    throw error(Code::Unimplemented, "'{}' in checkpoint '{}' is of type {}", key, prefix_, dtype_name(dtype));
  }
  const RandomAccessFile& file = require_data(key, entry);  // before memory is taken for it
  const auto offset = static_cast<uint64_t>(entry.offset()), size = static_cast<uint64_t>(entry.size());
  Tensor tensor(dtype, shape_from_proto(entry.shape()));
  std::optional<uint32_t> crc;
  if (dtype == DType::String) {
    crc = take_strings(file.read(offset, size), tensor);
  } else if (dtype == DType::Variant) {
    crc = take_variants(file.read(offset, size), tensor);
  } else {
    file.read(offset, size, tensor.mutable_raw());
    crc = crc32c(bytes_of(tensor));
  }
  if (!crc || *crc != unmask_crc(entry.crc32c())) damaged(file.path(), key, "a checksum does not fit");
  if (dtype == DType::Bool) {  // any other bit pattern in a bool is undefined behaviour
    auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw());
    for (int64_t i = 0; i < tensor.elements(); ++i) bytes[i] = bytes[i] != 0;
  }
  return tensor;
}

Tensor BundleReader::read(std::string_view name) const {
  const auto it = require(name);
  if (it->second.slices_size() == 0) return read_entry(it->first, it->second);
  return read_slice(name, TensorSlice::whole(it->second.shape().dim_size()));
}

Tensor BundleReader::read_slice(std::string_view name, const TensorSlice& slice) const {
  const auto it = require(name);
  const auto& [key, entry] = *it;
  const Shape shape = shape_from_proto(entry.shape());
  const TensorSlice wanted = slice.resolved(shape);
  if (entry.slices_size() == 0) {
    Tensor whole = read_entry(key, entry);
    if (wanted.covers(shape)) return whole;
    Tensor part(whole.dtype(), wanted.shape());
    copy_overlap(whole, TensorSlice::whole(shape.rank()).resolved(shape), part, wanted);
    return part;
  }
  const auto dtype = static_cast<DType>(entry.dtype());
  if (!storable(dtype)) {
    throw error(Code::Unimplemented, "'{}' in checkpoint '{}' is of type {}", key, prefix_, dtype_name(dtype));
  }
  // What the slices are worth is known before memory is taken for the whole.
  const std::string index = index_path(prefix_);
  std::vector<std::pair<const proto::BundleEntryProto*, TensorSlice>> parts;
  int64_t covered = 0;
  for (const auto& message : entry.slices()) {
    TensorSlice stored;
    try {
      stored = TensorSlice(message).resolved(shape);
    } catch (const Error& e) {
      damaged(index, key, e.message());
    }
    const int64_t common = overlap(stored, wanted);
    if (common == 0) continue;
    covered += common;
    const auto found = entries_.find(slice_key(name, TensorSlice(message)));
    if (found == entries_.end()) damaged(index, key, "a slice is missing");
    const proto::BundleEntryProto& part = found->second;
    if (part.slices_size() > 0 || part.dtype() != entry.dtype() || shape_from_proto(part.shape()) != stored.shape()) {
      damaged(index, key, "a slice does not fit the whole");
    }
    require_data(key, part);
    parts.emplace_back(&part, std::move(stored));
  }
  if (covered != wanted.shape().elements()) damaged(index, key, "its slices do not cover it");
  // Zeros, because slices that overlap could cover less than they count.
  Tensor result = Tensor::zeros(dtype, wanted.shape());
  for (const auto& [part, stored] : parts) copy_overlap(read_entry(key, *part), stored, result, wanted);
  return result;
}

}  // namespace weir::io

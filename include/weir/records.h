#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weir/export.h"

namespace weir {

// How a record file is packed as a whole. Files do not say it themselves.
enum class Compression { None, Gzip, Zlib };

// How a record file is written. What follows `compression` are zlib's settings, with zlib's meaning and defaults.
struct RecordWriterOptions {
  Compression compression = Compression::None;
  int compression_level = -1;
  int window_bits = 15;
  int memory_level = 8;
  int compression_strategy = 0;
};

// Writes TensorFlow's record files (TFRecord): byte strings, each with its length and checksums. Thread-safe: records
// of several threads stand whole behind each other, in any order. Every function throws what the file system says:
// NotFound, PermissionDenied, ResourceExhausted for a full disk. A record whose write() failed is kept, and the next
// flush() or close() tries again.
class WEIR_API RecordWriter {
 public:
  // Creates the file, or empties it. Throws InvalidArgument for settings that zlib does not take.
  explicit RecordWriter(const std::string& path, const RecordWriterOptions& options = {});
  RecordWriter(const std::string& path, Compression compression)
      : RecordWriter(path, RecordWriterOptions{.compression = compression}) {}
  RecordWriter(RecordWriter&&) noexcept;
  RecordWriter& operator=(RecordWriter&&) noexcept;
  ~RecordWriter();  // closes; failures are told on the standard error stream, so call close()

  void write(std::string_view record);
  void flush();  // readers of the file see everything written so far
  void close();  // everything is on the disk, also after a power failure. Does nothing when closed already.

 private:
  class File;
  std::unique_ptr<File> file_;
};

// Reads record files. Both checksums of each record are verified, and no damaged length makes it allocate more than the
// file holds. Thread-safe: several threads share the records, each of which goes to one of them.
class WEIR_API RecordReader {
 public:
  // Throws NotFound and whatever else the file system says.
  explicit RecordReader(const std::string& path, Compression compression = Compression::None);
  RecordReader(RecordReader&&) noexcept;
  RecordReader& operator=(RecordReader&&) noexcept;
  ~RecordReader();

  // Reads the next record; false at the end of the file. Throws DataLoss, with the file and the offset, for a record
  // that is damaged or cut short; from then on every call does.
  bool next(std::string& record);
  // Where the next record begins, in bytes of the unpacked file.
  int64_t offset() const;

 private:
  class File;
  std::unique_ptr<File> file_;
};

// A training example as TensorFlow's programs store it in record files (tf.train.Example): lists of integers, of floats
// or of byte strings, by name.
class WEIR_API Example {
 public:
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<float>;
  using Bytes = std::vector<std::string>;
  using Feature = std::variant<std::monostate, Bytes, Floats, Ints>;  // monostate: a feature without a list
  using Features = std::map<std::string, Feature, std::less<>>;

  // Sets or replaces a feature.
  Example& set_ints(std::string_view name, Ints values) { return set(name, std::move(values)); }
  Example& set_floats(std::string_view name, Floats values) { return set(name, std::move(values)); }
  Example& set_bytes(std::string_view name, Bytes values) { return set(name, std::move(values)); }
  Example& set_bytes(std::string_view name, std::string value) { return set(name, Bytes{std::move(value)}); }
  Example& set(std::string_view name, Feature feature);

  // Throw NotFound when there is no such feature, InvalidArgument when it is of another kind.
  const Ints& ints(std::string_view name) const;
  const Floats& floats(std::string_view name) const;
  const Bytes& bytes(std::string_view name) const;
  const Features& features() const { return features_; }
  bool has(std::string_view name) const { return features_.find(name) != features_.end(); }

  bool operator==(const Example&) const = default;

  // The message that stands in record files. Equal examples give equal bytes.
  std::string serialize() const;
  // Throws DataLoss when the bytes are no Example.
  static Example parse(std::string_view bytes);

 private:
  Features features_;
};

// An example whose features are sequences (tf.train.SequenceExample): features of the whole, and by name lists of
// features, one for each step.
class WEIR_API SequenceExample {
 public:
  using Feature = Example::Feature;
  using FeatureList = std::vector<Feature>;
  using FeatureLists = std::map<std::string, FeatureList, std::less<>>;

  Example context;
  FeatureLists feature_lists;

  bool operator==(const SequenceExample&) const = default;

  std::string serialize() const;
  // Throws DataLoss when the bytes are no SequenceExample. An Example is one without lists.
  static SequenceExample parse(std::string_view bytes);
};

}  // namespace weir

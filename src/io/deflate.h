#pragma once

#include <zlib.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "weir/records.h"

namespace weir::io {

// "", "ZLIB" and "GZIP"; throws InvalidArgument for others.
Compression compression_from_name(std::string_view name);

// Packs bytes as one gzip or zlib stream.
class Deflater {
 public:
  // How TensorFlow's TFRecordOptions call zlib's settings, with its defaults.
  struct Options {
    int level = Z_DEFAULT_COMPRESSION, window_bits = 15, memory_level = 8, strategy = Z_DEFAULT_STRATEGY;
  };
  explicit Deflater(Compression compression, const Options& options);
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Appends what comes out to `packed`. `flush` is zlib's: Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH.
  void pack(std::string_view bytes, int flush, std::string& packed);

 private:
  z_stream stream_ = {};
};

// Unpacks a gzip or zlib stream, or several behind each other, as gzip files may be.
class Inflater {
 public:
  // `source` is for messages: "'train.gz'".
  Inflater(Compression compression, std::string source);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Up to `size` unpacked bytes; 0 at the end. `fill` gives packed bytes, none at their end. Throws DataLoss.
  size_t read(char* bytes, size_t size, FunctionRef<size_t(char* bytes, size_t size)> fill);

 private:
  z_stream stream_ = {};
  std::string source_;
  bool inside_ = false;  // a stream that has not ended
  std::unique_ptr<char[]> packed_;
};

// All of a stream that is in memory. Throws DataLoss.
std::string inflate_all(std::string_view packed, Compression compression);

}  // namespace weir::io

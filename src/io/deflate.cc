#include "io/deflate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/errors.h"

namespace weir::io {
namespace {

constexpr size_t kPackedBytes = 1 << 18;

// 16 more bits of window ask zlib for gzip's frame.
int window_bits(Compression compression, int bits) { return compression == Compression::Gzip ? bits + 16 : bits; }

Bytef* zlib_bytes(const char* bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes)); }

}  // namespace

Compression compression_from_name(std::string_view name) {
  if (name.empty()) return Compression::None;
  if (name == "ZLIB") return Compression::Zlib;
  if (name == "GZIP") return Compression::Gzip;
  throw invalid_argument("Unsupported compression_type: {}. Use '', 'ZLIB' or 'GZIP'", name);
}

Deflater::Deflater(Compression compression, const Options& options) {
  const int status = deflateInit2(&stream_, options.level, Z_DEFLATED, window_bits(compression, options.window_bits),
                                  options.memory_level, options.strategy);
  if (status == Z_STREAM_ERROR) {
    throw invalid_argument("zlib takes no level {}, window of {} bits, memory level {} and strategy {} together",
                           options.level, options.window_bits, options.memory_level, options.strategy);
  }
  if (status != Z_OK) throw error(Code::ResourceExhausted, "no memory for compression");
}

Deflater::~Deflater() { deflateEnd(&stream_); }

void Deflater::pack(std::string_view bytes, int flush, std::string& packed) {
  do {
    // zlib counts in 32 bits.
    std::string_view part = bytes.substr(0, 1 << 30);
    bytes.remove_prefix(part.size());
    stream_.next_in = zlib_bytes(part.data());
    stream_.avail_in = static_cast<uInt>(part.size());
    do {
      std::array<char, 1 << 16> chunk;
      stream_.next_out = zlib_bytes(chunk.data());
      stream_.avail_out = chunk.size();
      deflate(&stream_, bytes.empty() ? flush : Z_NO_FLUSH);
      packed.append(chunk.data(), chunk.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  } while (!bytes.empty());
}

Inflater::Inflater(Compression compression, std::string source)
    : source_(std::move(source)), packed_(std::make_unique_for_overwrite<char[]>(kPackedBytes)) {
  if (inflateInit2(&stream_, window_bits(compression, 15)) != Z_OK) {
    throw error(Code::ResourceExhausted, "no memory for decompression");
  }
}

Inflater::~Inflater() { inflateEnd(&stream_); }

size_t Inflater::read(char* bytes, size_t size, FunctionRef<size_t(char* bytes, size_t size)> fill) {
  size = std::min<size_t>(size, 1 << 30);
  stream_.next_out = zlib_bytes(bytes);
  stream_.avail_out = static_cast<uInt>(size);
  while (stream_.avail_out == size) {
    if (stream_.avail_in == 0) {
      stream_.next_in = zlib_bytes(packed_.get());
      stream_.avail_in = static_cast<uInt>(fill(packed_.get(), kPackedBytes));
      if (stream_.avail_in == 0) {
        // There may also be nothing at all.
        if (inside_) throw error(Code::DataLoss, "the compressed stream of {} is cut short", source_);
        return 0;
      }
    }
    if (!inside_) {
      inflateReset(&stream_);  // the beginning, or another stream behind the one that ended
      inside_ = true;
    }
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      inside_ = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw error(Code::DataLoss, "the compressed stream of {} is damaged: inflate() failed with error {}: {}", source_,
                  status, stream_.msg ? stream_.msg : "it is of another kind");
    }
  }
  return size - stream_.avail_out;
}

std::string inflate_all(std::string_view packed, Compression compression) {
  Inflater inflater(compression, "the string");
  std::string bytes;
  std::array<char, 1 << 16> chunk;
  auto fill = [&](char* out, size_t size) {
    const size_t count = std::min(size, packed.size());
    if (count > 0) std::memcpy(out, packed.data(), count);
    packed.remove_prefix(count);
    return count;
  };
  while (const size_t count = inflater.read(chunk.data(), chunk.size(), fill)) bytes.append(chunk.data(), count);
  return bytes;
}

}  // namespace weir::io

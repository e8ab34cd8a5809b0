#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <optional>

#include "base/crc32c.h"
#include "base/errors.h"
#include "io/file_stream.h"
#include "io/record_format.h"
#include "io/varint.h"
#include "weir/records.h"

namespace weir {

io::RecordFrame::RecordFrame(std::string_view record) {
  put_fixed(header, static_cast<uint64_t>(record.size()));
  put_fixed(header, mask_crc(crc32c(header)));
  put_fixed(footer, mask_crc(crc32c(record)));
}

namespace {

constexpr size_t kChunkBytes = 1 << 16;

// 15 bits of window; 16 more ask zlib for gzip's frame.
int window_bits(Compression compression) { return compression == Compression::Gzip ? 15 + 16 : 15; }

Bytef* zlib_bytes(const char* bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes)); }

class Deflater {
 public:
  explicit Deflater(Compression compression) {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits(compression), 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw error(Code::ResourceExhausted, "no memory for compression");
    }
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Appends what comes out to `packed`.
  void pack(std::string_view bytes, int flush, std::string& packed) {
    do {
      // zlib counts in 32 bits.
      std::string_view part = bytes.substr(0, 1 << 30);
      bytes.remove_prefix(part.size());
      stream_.next_in = zlib_bytes(part.data());
      stream_.avail_in = static_cast<uInt>(part.size());
      do {
        std::array<char, kChunkBytes> chunk;
        stream_.next_out = zlib_bytes(chunk.data());
        stream_.avail_out = chunk.size();
        deflate(&stream_, bytes.empty() ? flush : Z_NO_FLUSH);
        packed.append(chunk.data(), chunk.size() - stream_.avail_out);
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
  }

 private:
  z_stream stream_ = {};
};

class Inflater {
 public:
  explicit Inflater(Compression compression) {
    if (inflateInit2(&stream_, window_bits(compression)) != Z_OK) {
      throw error(Code::ResourceExhausted, "no memory for decompression");
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Up to `size` unpacked bytes; 0 at the end of the file. Throws DataLoss.
  size_t read(char* bytes, size_t size, io::InputFile& file) {
    stream_.next_out = zlib_bytes(bytes);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0) {
        stream_.next_in = zlib_bytes(packed_.data());
        stream_.avail_in = static_cast<uInt>(file.read(packed_.data(), packed_.size()));
        if (stream_.avail_in == 0) {
          // A file may also hold nothing at all.
          if (inside_) throw error(Code::DataLoss, "the compressed stream of '{}' is cut short", file.path());
          return 0;
        }
      }
      if (!inside_) {
        // The beginning, or another stream behind the one that ended: gzip files may be concatenated.
        inflateReset(&stream_);
        inside_ = true;
      }
      int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        inside_ = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw error(Code::DataLoss, "the compressed stream of '{}' is damaged: {}", file.path(),
                    stream_.msg ? stream_.msg : "it is of another kind");
      }
    }
    return size - stream_.avail_out;
  }

 private:
  z_stream stream_ = {};
  bool inside_ = false;  // a stream that has not ended
  std::array<char, kChunkBytes> packed_;
};

}  // namespace

class RecordWriter::File {
 public:
  File(const std::string& path, Compression compression) : file_(path) {
    if (compression != Compression::None) deflater_.emplace(compression);
  }

  void write(std::string_view record) {
    std::lock_guard lock(mutex_);
    if (closed_ || finished_) throw error(Code::FailedPrecondition, "'{}' is closed", file_.path());
    if (!deflater_) return io::write_record(file_, record);
    io::RecordFrame frame(record);
    std::string packed;
    for (std::string_view part : {std::string_view(frame.header), record, std::string_view(frame.footer)}) {
      deflater_->pack(part, Z_NO_FLUSH, packed);
    }
    file_.write(packed);
  }
  void flush() {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    if (deflater_ && !finished_) pack_rest(Z_SYNC_FLUSH);
    file_.flush();
  }
  void close() {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    if (deflater_ && !finished_) {
      finished_ = true;  // also when the disk is full: the rest is in the file's buffer then
      pack_rest(Z_FINISH);
    }
    file_.close();
    closed_ = true;
  }

 private:
  void pack_rest(int flush) {
    std::string packed;
    deflater_->pack({}, flush, packed);
    file_.write(packed);
  }

  std::mutex mutex_;  // guards what follows
  io::OutputFile file_;
  std::optional<Deflater> deflater_;
  bool finished_ = false, closed_ = false;
};

RecordWriter::RecordWriter(const std::string& path, Compression compression)
    : file_(std::make_unique<File>(path, compression)) {}
RecordWriter::RecordWriter(RecordWriter&&) noexcept = default;
RecordWriter& RecordWriter::operator=(RecordWriter&& other) noexcept {
  RecordWriter old(std::move(*this));
  file_ = std::move(other.file_);
  return *this;
}
RecordWriter::~RecordWriter() {
  if (!file_) return;
  try {
    file_->close();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weir: records are lost: %s\n", e.what());
  }
}
void RecordWriter::write(std::string_view record) { file_->write(record); }
void RecordWriter::flush() { file_->flush(); }
void RecordWriter::close() { file_->close(); }

class RecordReader::File {
 public:
  File(const std::string& path, Compression compression) : file_(path) {
    if (compression != Compression::None) inflater_.emplace(compression);
  }

  bool next(std::string& record) {
    std::lock_guard lock(mutex_);
    if (failure_) throw *failure_;
    try {
      return read_record(record);
    } catch (const Error& e) {
      failure_ = e;
      throw;
    }
  }
  int64_t offset() const {
    std::lock_guard lock(mutex_);
    return offset_;
  }

 private:
  bool read_record(std::string& record) {
    std::array<char, io::kRecordHeaderBytes> header;
    size_t count = read(header.data(), header.size());
    if (count == 0) return false;
    if (count < header.size()) throw cut_short("header");
    if (mask_crc(crc32c({header.data(), 8})) != io::get_fixed<uint32_t>({header.data() + 8, 4})) {
      throw damaged("the checksum of the length is wrong");
    }
    auto length = io::get_fixed<uint64_t>({header.data(), 8});
    read_data(record, length);
    std::array<char, io::kRecordFooterBytes> footer;
    if (read(footer.data(), footer.size()) < footer.size()) throw cut_short("checksum");
    if (mask_crc(crc32c(record)) != io::get_fixed<uint32_t>({footer.data(), 4})) {
      throw damaged("the checksum of the data is wrong");
    }
    offset_ += static_cast<int64_t>(io::kRecordHeaderBytes + length + io::kRecordFooterBytes);
    return true;
  }

  // The string grows with what the file really holds: a length of 2^60 with a good checksum costs nothing.
  void read_data(std::string& record, uint64_t length) {
    record.clear();
    while (record.size() < length) {
      size_t size = record.size();
      size_t step = static_cast<size_t>(std::min<uint64_t>(length - size, std::max<size_t>(size, kChunkBytes)));
      record.resize(size + step);
      if (read(record.data() + size, step) < step) {
        record.clear();
        throw cut_short("data");
      }
    }
  }

  // `size` bytes, or fewer when the file ends.
  size_t read(char* bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
      if (begin_ == end_) {
        begin_ = 0;
        end_ = fill();
        if (end_ == 0) break;
      }
      size_t count = std::min(size - done, end_ - begin_);
      std::copy_n(buffer_.data() + begin_, count, bytes + done);
      begin_ += count;
      done += count;
    }
    return done;
  }
  size_t fill() {
    return inflater_ ? inflater_->read(buffer_.data(), buffer_.size(), file_)
                     : file_.read(buffer_.data(), buffer_.size());
  }

  Error damaged(std::string_view why) const {
    return error(Code::DataLoss, "'{}' is damaged at byte {}: {}", file_.path(), offset_, why);
  }
  Error cut_short(std::string_view part) const {
    return error(Code::DataLoss, "'{}' is cut short: the record at byte {} ends in its {}", file_.path(), offset_,
                 part);
  }

  mutable std::mutex mutex_;  // guards what follows
  io::InputFile file_;
  std::optional<Inflater> inflater_;
  std::array<char, kChunkBytes> buffer_;
  size_t begin_ = 0, end_ = 0;  // the part of buffer_ that is not read yet
  int64_t offset_ = 0;
  std::optional<Error> failure_;
};

RecordReader::RecordReader(const std::string& path, Compression compression)
    : file_(std::make_unique<File>(path, compression)) {}
RecordReader::RecordReader(RecordReader&&) noexcept = default;
RecordReader& RecordReader::operator=(RecordReader&&) noexcept = default;
RecordReader::~RecordReader() = default;
bool RecordReader::next(std::string& record) { return file_->next(record); }
int64_t RecordReader::offset() const { return file_->offset(); }

}  // namespace weir

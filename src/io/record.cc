#include <array>
#include <cstdio>
#include <mutex>
#include <optional>

#include "base/crc32c.h"
#include "base/errors.h"
#include "io/buffered_input.h"
#include "io/deflate.h"
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

class RecordWriter::File {
 public:
  File(const std::string& path, const RecordWriterOptions& options) : file_(path) {
    if (options.compression == Compression::None) return;
    deflater_.emplace(options.compression, io::Deflater::Options{.level = options.compression_level,
                                                                 .window_bits = options.window_bits,
                                                                 .memory_level = options.memory_level,
                                                                 .strategy = options.compression_strategy});
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
  std::optional<io::Deflater> deflater_;
  bool finished_ = false, closed_ = false;
};

RecordWriter::RecordWriter(const std::string& path, const RecordWriterOptions& options)
    : file_(std::make_unique<File>(path, options)) {}
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
  File(const std::string& path, Compression compression) : input_(path, compression) {}

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
    size_t count = input_.read(header.data(), header.size());
    if (count == 0) return false;
    if (count < header.size()) throw truncated("header");
    if (mask_crc(crc32c({header.data(), 8})) != io::get_fixed<uint32_t>({header.data() + 8, 4})) {
      throw corrupted("the checksum of the length is wrong");
    }
    auto length = io::get_fixed<uint64_t>({header.data(), 8});
    record.clear();
    if (input_.append(record, length) < length) {
      record.clear();
      throw truncated("data");
    }
    std::array<char, io::kRecordFooterBytes> footer;
    if (input_.read(footer.data(), footer.size()) < footer.size()) throw truncated("checksum");
    if (mask_crc(crc32c(record)) != io::get_fixed<uint32_t>({footer.data(), 4})) {
      throw corrupted("the checksum of the data is wrong");
    }
    offset_ = input_.offset();
    return true;
  }

  Error corrupted(std::string_view why) const {
    return error(Code::DataLoss, "corrupted record at {} of '{}': {}", offset_, input_.path(), why);
  }
  Error truncated(std::string_view part) const {
    return error(Code::DataLoss, "truncated record at {} of '{}': the file ends in its {}", offset_, input_.path(),
                 part);
  }

  mutable std::mutex mutex_;  // guards what follows
  io::BufferedInput input_;
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

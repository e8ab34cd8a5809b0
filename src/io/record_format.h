#pragma once

#include <string>
#include <string_view>

#include "io/file_stream.h"

namespace weir::io {

// A record of a record file is
//   uint64  length
//   uint32  masked checksum of the length
//   byte    data[length]
//   uint32  masked checksum of the data
// in little-endian order. Compressed files hold the same bytes as one gzip or zlib stream.
inline constexpr size_t kRecordHeaderBytes = 12, kRecordFooterBytes = 4;

struct RecordFrame {
  explicit RecordFrame(std::string_view record);
  std::string header, footer;
};

inline void write_record(OutputFile& file, std::string_view record) {
  RecordFrame frame(record);
  file.write({frame.header, record, frame.footer});
}

}  // namespace weir::io

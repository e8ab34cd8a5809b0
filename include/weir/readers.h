#pragma once

#include <string>
#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/records.h"

namespace weir {

// Gives the records of files one after the other. The names of the files come from a queue of strings, such as that of
// train::string_input_producer(): a read that needs the next one waits for it there. Several runs may read at once;
// each record goes to one of them.
//
//   TFRecordReader reader(g);
//   auto [key, value] = reader.read(files);
class WEIR_API ReaderBase {
 public:
  struct Record {
    Output key, value;
  };

  Output handle() const { return handle_; }

  // One record. Ends with OutOfRange when the queue is closed and all its files are read, and with what a file has to
  // say: NotFound, DataLoss.
  Record read(const In& queue, std::string_view name = {}) const;
  // Up to that many records of one file, as vectors of at least one.
  Record read_up_to(const In& queue, const In& num_records, std::string_view name = {}) const;

  Output num_records_produced(std::string_view name = {}) const;
  Output num_work_units_completed(std::string_view name = {}) const;
  Operation reset(std::string_view name = {}) const;
  // Of readers of whole files and of IdentityReader only; others fail with Unimplemented.
  Output serialize_state(std::string_view name = {}) const;
  Operation restore_state(const In& state, std::string_view name = {}) const;

 protected:
  explicit ReaderBase(Output handle) : handle_(handle) {}

 private:
  Output handle_;
};

// Records of TFRecord files; keys are "file:offset".
class WEIR_API TFRecordReader : public ReaderBase {
 public:
  explicit TFRecordReader(Graph& graph, Compression compression = Compression::None, std::string_view name = {});
};

// Lines of text files; keys are "file:line", from 1 on.
class WEIR_API TextLineReader : public ReaderBase {
 public:
  explicit TextLineReader(Graph& graph, int64_t skip_header_lines = 0, std::string_view name = {});
};

// Records that all have one length; keys are "file:record", from 0 on.
struct FixedLengthRecordOptions {
  int64_t record_bytes;
  int64_t header_bytes = 0, footer_bytes = 0;
  int64_t hop_bytes = 0;  // from the beginning of a record to that of the next; 0: record_bytes
  Compression compression = Compression::None;
};
class WEIR_API FixedLengthRecordReader : public ReaderBase {
 public:
  FixedLengthRecordReader(Graph& graph, const FixedLengthRecordOptions& options, std::string_view name = {});
};

// The whole contents of files; keys are their names.
class WEIR_API WholeFileReader : public ReaderBase {
 public:
  explicit WholeFileReader(Graph& graph, std::string_view name = {});
};

// What the queue holds, as key and as value.
class WEIR_API IdentityReader : public ReaderBase {
 public:
  explicit IdentityReader(Graph& graph, std::string_view name = {});
};

}  // namespace weir

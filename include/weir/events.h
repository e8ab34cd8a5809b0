#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Event files, TensorBoard's: the writer, and what a reader sees. summary.h makes what is written.
namespace weir::summary {

struct FileWriterOptions {
  int max_queue = 10;                             // events that may wait; one more waits in add until there is room
  std::chrono::milliseconds flush_every{120000};  // how long an event may stay out of the file
  std::string filename_suffix = {};
};

enum class SessionStatus { Start = 1, Stop = 2, Checkpoint = 3 };

// Writes an event file that TensorBoard reads while it grows: events.out.tfevents.<seconds>.<host><suffix> in `logdir`,
// which is made when it does not exist. Thread-safe. A thread of the writer does the writing; a process that was forked
// has no part in it: there close() does nothing and the other calls throw FailedPrecondition.
//
// A failure (a full disk, a folder that may not be written to) is thrown by the constructor, or else by the next call,
// which has then done nothing. No event that was taken is dropped: the writer keeps it and tries again, and takes new
// ones as soon as that succeeds. When someone deletes the file, the events from then on go into a new one.
class WEIR_API FileWriter {
 public:
  explicit FileWriter(const std::string& logdir, const FileWriterOptions& options = {});
  FileWriter(const std::string& logdir, const Graph& graph, const FileWriterOptions& options = {});
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();  // closes; a failure is told on the standard error stream, so call close()

  // Messages are serialised; each call throws InvalidArgument when the bytes are no such message, FailedPrecondition
  // after close().
  void add_summary(std::string_view summary, std::optional<int64_t> step = {});
  void add(const Tensor& summary, std::optional<int64_t> step = {});  // as a session gives it: a string scalar
  void add_graph(const Graph& graph, std::optional<int64_t> step = {});
  void add_graph_def(std::string_view graph_def, std::optional<int64_t> step = {});
  void add_meta_graph(std::string_view meta_graph_def, std::optional<int64_t> step = {});
  void add_session_log(SessionStatus status, std::optional<int64_t> step = {}, std::string_view checkpoint_path = {});
  // Each tag only once: TensorBoard offers the runs by their tags.
  void add_run_metadata(std::string_view run_metadata, std::string_view tag, std::optional<int64_t> step = {});
  void add_event(std::string_view event);

  void flush();   // everything added so far is in the file and on the disk
  void close();   // flush(), and ends the thread. Does nothing when closed already.
  void reopen();  // after close(): goes on in a new file
  bool closed() const;
  const std::string& logdir() const;
  std::string path() const;  // of the current file

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// An event as a reader of event files sees it: RecordReader gives the bytes.
struct WEIR_API Event {
  struct Value {
    std::string tag;
    std::string kind;     // "scalar", "histogram", "image", "audio", "tensor"
    std::string text;     // the value in a few words: "0.25", "4 values from -1 to 2, mean 0.625", "28 x 28 x 1"
    double scalar = 0;    // of a scalar
    std::string encoded;  // of an image or a sound: the file
  };

  double wall_time = 0;  // seconds since the epoch
  int64_t step = 0;
  std::string kind;           // what it carries: "file_version", "graph_def", "summary", "session_log", ...
  std::string text;           // the version, the status of a session log, the tag of a run
  std::vector<Value> values;  // of a summary

  // Throws DataLoss when the bytes are no Event.
  static Event parse(std::string_view bytes);
};

}  // namespace weir::summary

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "base/errors.h"
#include "base/fork.h"
#include "graph/graph_def.h"
#include "io/file.h"
#include "io/file_stream.h"
#include "io/record_format.h"
#include "proto/config.pb.h"
#include "proto/event.pb.h"
#include "proto/meta_graph.pb.h"
#include "weir/events.h"

namespace weir::summary {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since_epoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == 0) return "localhost";
  return name.data();
}

template <class Message>
void parse(std::string_view bytes, Message& message, std::string_view kind) {
  if (!message.ParseFromString(std::string(bytes)))
    throw invalid_argument("{} bytes are no {} message", bytes.size(), kind);
}

// An event file that is being written. For one thread at a time.
class EventFile {
 public:
  EventFile(const std::string& logdir, const std::string& suffix) {
    io::create_directories(logdir);
    const double now = seconds_since_epoch();
    // Another writer may have begun in the same second: names that exist are left alone.
    for (auto second = static_cast<int64_t>(now);; ++second) {
      try {
        file_.emplace(fmt::format("{}/events.out.tfevents.{:010}.{}{}", logdir, second, host_name(), suffix),
                      io::OutputFile::Existing::Fail);
        break;
      } catch (const Error& e) {
        if (e.code() != Code::AlreadyExists) throw;
      }
    }
    proto::Event version;
    version.set_wall_time(now);
    version.set_file_version("brain.Event:2");
    append(version.SerializeAsString());
    file_->sync();
  }

  const std::string& path() const { return file_->path(); }
  bool exists() const { return io::file_exists(path()); }
  void append(const std::string& event) { io::write_record(*file_, event); }
  void sync() { file_->sync(); }
  void close() { file_->close(); }

 private:
  std::optional<io::OutputFile> file_;
};

}  // namespace

// The callers put serialised events into a queue; the thread takes them all at once, writes them, and syncs the file
// when it is time or when someone waits in flush().
class FileWriter::Impl {
 public:
  Impl(std::string logdir, const FileWriterOptions& options) : logdir_(std::move(logdir)), options_(options) { open(); }
  ~Impl() {
    try {
      close();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "weir: events are lost: %s\n", e.what());
    }
  }

  // Whether this is the process that made the writer: in one that was forked the thread does not exist, and the file is
  // not this process's to write.
  bool own_process() const { return forks_ == fork_count(); }

  const std::string& logdir() const { return logdir_; }
  std::string path() const {
    require_own_process();
    std::lock_guard lock(mutex_);
    return path_;
  }
  bool closed() const {
    if (!own_process()) return true;
    std::lock_guard lock(mutex_);
    return closed_;
  }

  void add(std::string event) {
    require_own_process();
    std::unique_lock lock(mutex_);
    const auto most = static_cast<size_t>(std::max(options_.max_queue, 1));
    done_.wait(lock, [&] { return queue_.size() < most || failure_ || closed_; });
    require_open();
    if (failure_) {
      retry_ = true;
      work_.notify_one();
      throw_failure();
    }
    queue_.push_back(std::move(event));
    work_.notify_one();
  }
  void add(proto::Event& event, std::optional<int64_t> step) {
    event.set_wall_time(seconds_since_epoch());
    if (step) event.set_step(*step);
    add(event.SerializeAsString());
  }

  void add_summary(proto::Summary summary, std::optional<int64_t> step) {
    require_own_process();
    proto::Event event;
    std::set<std::string, std::less<>> new_tags;
    {
      // Metadata says what part of TensorBoard shows a tag: once is enough.
      std::lock_guard lock(mutex_);
      for (proto::Summary::Value& value : *summary.mutable_value()) {
        if (!value.has_metadata()) continue;
        if (tags_.contains(value.tag()) || !new_tags.insert(value.tag()).second) value.clear_metadata();
      }
    }
    *event.mutable_summary() = std::move(summary);
    add(event, step);
    std::lock_guard lock(mutex_);
    tags_.merge(new_tags);
  }

  void add_run(std::string_view run_metadata, std::string_view tag, std::optional<int64_t> step) {
    require_own_process();
    proto::Event event;
    event.mutable_tagged_run_metadata()->set_tag(std::string(tag));
    event.mutable_tagged_run_metadata()->set_run_metadata(std::string(run_metadata));
    {
      std::lock_guard lock(mutex_);
      if (run_tags_.contains(tag)) throw invalid_argument("the tag '{}' was given to a run before", tag);
    }
    add(event, step);
    std::lock_guard lock(mutex_);
    run_tags_.emplace(tag);
  }

  void flush() {
    require_own_process();
    std::unique_lock lock(mutex_);
    if (closed_) return;
    const int64_t ticket = ++flushes_wanted_;
    retry_ = true;
    work_.notify_one();
    done_.wait(lock, [&] { return flushes_done_ >= ticket; });
    if (failure_) throw_failure();
  }

  void close() {
    if (!own_process()) return;
    std::lock_guard one_at_a_time(opening_);
    {
      std::lock_guard lock(mutex_);
      if (closed_) return;
      closed_ = true;
    }
    work_.notify_one();
    done_.notify_all();
    thread_.join();
    file_.reset();
    if (failure_) throw_failure();
  }

  void reopen() {
    require_own_process();
    std::lock_guard one_at_a_time(opening_);
    if (closed()) open();
  }

 private:
  void open() {
    auto file = std::make_unique<EventFile>(logdir_, options_.filename_suffix);
    std::lock_guard lock(mutex_);
    file_ = std::move(file);
    path_ = file_->path();
    unwritten_.clear();
    queue_.clear();
    tags_.clear();  // readers may see the new file only
    failure_.reset();
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& e) {
      throw error(Code::ResourceExhausted, "no thread for the event writer: {}", e.what());
    }
    closed_ = false;
  }

  struct Failure {
    Code code;
    std::string message;
  };
  // Each caller gets an Error of its own.
  [[noreturn]] void throw_failure() const { throw Error(failure_->code, failure_->message); }

  void require_own_process() const {
    if (own_process()) return;
    throw error(Code::FailedPrecondition,
                "the event writer of '{}' belongs to the process that this one was forked from", logdir_);
  }

  void require_open() const {
    if (closed_) throw error(Code::FailedPrecondition, "the event writer of '{}' is closed", logdir_);
  }

  void run() {
    std::unique_lock lock(mutex_);
    bool unsynced = false;
    Clock::time_point due = Clock::now();  // the first events are shown at once
    for (;;) {
      auto wanted = [&] { return closed_ || flushes_wanted_ > flushes_done_ || (failure_ ? retry_ : !queue_.empty()); };
      if (unsynced && !failure_) {
        work_.wait_until(lock, due, wanted);
      } else {
        work_.wait(lock, wanted);
      }
      retry_ = false;
      const bool last = closed_;
      const int64_t flushes = flushes_wanted_;
      std::deque<std::string> events = std::exchange(queue_, {});
      unsynced = unsynced || !events.empty();
      const bool sync = last || flushes > flushes_done_ || failure_ || Clock::now() >= due;
      lock.unlock();
      done_.notify_all();  // there is room in the queue
      std::optional<Failure> failure = write(events, sync && unsynced, last);
      if (sync && !failure) {
        unsynced = false;
        due = Clock::now() + std::clamp<Clock::duration>(options_.flush_every, {}, std::chrono::hours(24));
      }
      lock.lock();
      failure_ = std::move(failure);
      path_ = file_->path();
      flushes_done_ = flushes;
      done_.notify_all();
      if (last) return;
    }
  }

  // What cannot be written stays in the file's buffer, or in `unwritten_`, until the next call.
  std::optional<Failure> write(std::deque<std::string>& events, bool sync, bool last) {
    unwritten_.insert(unwritten_.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
    try {
      if (!unwritten_.empty() && !file_->exists())
        file_ = std::make_unique<EventFile>(logdir_, options_.filename_suffix);
      while (!unwritten_.empty()) {
        // Taken off first: when the disk is full the event is in the file's buffer already.
        const std::string event = std::move(unwritten_.front());
        unwritten_.pop_front();
        file_->append(event);
      }
      if (last) {
        file_->close();
      } else if (sync) {
        file_->sync();
      }
    } catch (const Error& e) {
      return Failure{e.code(), e.message()};
    } catch (const std::exception& e) {
      return Failure{Code::ResourceExhausted, e.what()};  // no memory
    }
    return std::nullopt;
  }

  const std::string logdir_;
  const FileWriterOptions options_;
  const uint64_t forks_ = fork_count();

  std::mutex opening_;  // held by close() and reopen()
  std::thread thread_;

  // Of the thread while it runs.
  std::unique_ptr<EventFile> file_;
  std::deque<std::string> unwritten_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable work_, done_;
  std::deque<std::string> queue_;
  std::optional<Failure> failure_;  // of the last attempt to write
  bool retry_ = false, closed_ = true;
  int64_t flushes_wanted_ = 0, flushes_done_ = 0;
  std::string path_;
  std::set<std::string, std::less<>> tags_, run_tags_;
};

FileWriter::FileWriter(const std::string& logdir, const FileWriterOptions& options)
    : impl_(std::make_unique<Impl>(logdir, options)) {}

FileWriter::FileWriter(const std::string& logdir, const Graph& graph, const FileWriterOptions& options)
    : FileWriter(logdir, options) {
  add_graph(graph);
}

FileWriter::~FileWriter() {
  if (!impl_->own_process()) static_cast<void>(impl_.release());  // there is no thread to join, and nothing to write
}

void FileWriter::add_summary(std::string_view summary, std::optional<int64_t> step) {
  proto::Summary message;
  parse(summary, message, "Summary");
  impl_->add_summary(std::move(message), step);
}

void FileWriter::add(const Tensor& summary, std::optional<int64_t> step) {
  add_summary(summary.scalar<std::string>(), step);
}

void FileWriter::add_graph(const Graph& graph, std::optional<int64_t> step) {
  proto::Event event;
  event.set_graph_def(graph_def_with_shapes(graph));
  impl_->add(event, step);
}

void FileWriter::add_graph_def(std::string_view graph_def, std::optional<int64_t> step) {
  proto::GraphDef message;
  parse(graph_def, message, "GraphDef");
  proto::Event event;
  event.set_graph_def(std::string(graph_def));
  impl_->add(event, step);
}

void FileWriter::add_meta_graph(std::string_view meta_graph_def, std::optional<int64_t> step) {
  proto::MetaGraphDef message;
  parse(meta_graph_def, message, "MetaGraphDef");
  proto::Event event;
  event.set_meta_graph_def(std::string(meta_graph_def));
  impl_->add(event, step);
}

void FileWriter::add_session_log(SessionStatus status, std::optional<int64_t> step, std::string_view checkpoint_path) {
  proto::Event event;
  event.mutable_session_log()->set_status(static_cast<proto::SessionLog::SessionStatus>(status));
  event.mutable_session_log()->set_checkpoint_path(std::string(checkpoint_path));
  impl_->add(event, step);
}

void FileWriter::add_run_metadata(std::string_view run_metadata, std::string_view tag, std::optional<int64_t> step) {
  proto::RunMetadata message;
  parse(run_metadata, message, "RunMetadata");
  impl_->add_run(run_metadata, tag, step);
}

void FileWriter::add_event(std::string_view event) {
  proto::Event message;
  parse(event, message, "Event");
  impl_->add(std::string(event));
}

void FileWriter::flush() { impl_->flush(); }
void FileWriter::close() { impl_->close(); }
void FileWriter::reopen() { impl_->reopen(); }
bool FileWriter::closed() const { return impl_->closed(); }
const std::string& FileWriter::logdir() const { return impl_->logdir(); }
std::string FileWriter::path() const { return impl_->path(); }

}  // namespace weir::summary

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <random>
#include <thread>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "io/deflate.h"
#include "io/file.h"
#include "ops/run_control.h"
#include "ops/string/hash.h"
#include "ops/types.h"
#include "weir/records.h"

namespace weir::ops {
namespace {

struct Options {
  std::string pattern, compression;
  int64_t seed = 0, buffer_size = 0, parallelism = 0;
  float shift_ratio = 0;
};

// Records that pass from a thread to the buffer together, the last one first: TensorFlow's order depends on it.
constexpr size_t kGroup = 16;

// A part of an epoch's files, which a thread of its own reads ahead.
class Shard {
 public:
  Shard(std::vector<std::string> files, Compression compression)
      : files_(std::move(files)),
        compression_(compression),
        thread_([this](const std::stop_token& stop) { read(stop); }) {}

  // The next records, up to a group; none at the end. Throws what reading the files threw, and when the run ends.
  std::vector<std::string> take(const RunControl& control) {
    std::unique_lock lock(mutex_);
    auto arrived = [this] { return records_.size() >= kGroup || done_; };
    if (control.has_deadline()) {
      changed_.wait_until(lock, control.stop, control.deadline, arrived);
    } else {
      changed_.wait(lock, control.stop, arrived);
    }
    if (!arrived()) control.end();
    std::vector<std::string> group;
    while (group.size() < kGroup && !records_.empty()) {
      bytes_ -= records_.front().size();
      group.push_back(std::move(records_.front()));
      records_.pop_front();
    }
    if (group.empty() && error_) std::rethrow_exception(error_);
    changed_.notify_all();
    return group;
  }

 private:
  static constexpr size_t kAhead = 4 * kGroup, kBytesAhead = 16 << 20;

  void read(const std::stop_token& stop) {
    std::exception_ptr error;
    try {
      for (size_t i = 0; i < files_.size() && !stop.stop_requested(); ++i) read_file(files_[i], stop);
    } catch (...) {
      error = std::current_exception();
    }
    std::lock_guard lock(mutex_);
    error_ = error;
    done_ = true;
    changed_.notify_all();
  }

  void read_file(const std::string& path, const std::stop_token& stop) {
    RecordReader reader = open(path);
    for (std::string record; reader.next(record); record.clear()) {
      std::unique_lock lock(mutex_);
      auto has_room = [this] { return records_.size() < kGroup || (records_.size() < kAhead && bytes_ < kBytesAhead); };
      if (!changed_.wait(lock, stop, has_room)) return;
      bytes_ += record.size();
      records_.push_back(std::move(record));
      changed_.notify_all();
    }
  }

  RecordReader open(const std::string& path) const {
    try {
      return RecordReader(path, compression_);
    } catch (const Error& e) {
      throw invalid_argument("Can't open {}: {}", path, e.message());
    }
  }

  const std::vector<std::string> files_;
  const Compression compression_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_:
  std::deque<std::string> records_;
  size_t bytes_ = 0;
  bool done_ = false;
  std::exception_ptr error_;
  std::jthread thread_;  // the last: it uses all the others
};

// Gives records of files without end, epoch by epoch, from a buffer that is shuffled as it fills. Unlike TensorFlow,
// which begins to give when the buffer is half full and fills it from threads that race, it fills the buffer before it
// gives anything and takes from the shards by turns: equal seeds give equal orders, TensorFlow's where that has one.
class RecordYielder final : public Resource {
 public:
  explicit RecordYielder(Options options)
      : options_(std::move(options)),
        compression_(io::compression_from_name(options_.compression)),
        random_(static_cast<uint64_t>(options_.seed)) {}

  std::string describe() const override { return "the records of '" + options_.pattern + "'"; }

  // Writes `count` records to `out`.
  void take(const RunControl& control, int64_t count, std::string* out) {
    std::lock_guard lock(mutex_);
    for (int64_t i = 0; i < count; ++i) {
      if (i % 256 == 0) control.check();
      fill(control);
      out[i] = std::move(buffer_.back());
      buffer_.pop_back();
    }
  }

 private:
  void fill(const RunControl& control) {
    if (error_) std::rethrow_exception(error_);
    while (buffer_.size() < static_cast<size_t>(options_.buffer_size)) {
      if (!group_.empty() || next_group(control)) {
        add(std::move(group_.back()));
        group_.pop_back();
        continue;
      }
      // Nothing of the next epoch comes before the last of this one.
      if (!buffer_.empty()) return;
      try {
        begin_epoch();
      } catch (...) {
        error_ = std::current_exception();
        throw;
      }
    }
  }

  void add(std::string&& record) {
    const uint64_t place = random_() % (buffer_.size() + 1);
    buffer_.push_back(std::move(record));
    std::swap(buffer_[place], buffer_.back());
    is_empty_ = false;
  }

  // Records of the shard whose turn it is; false when all are at their end.
  bool next_group(const RunControl& control) {
    while (!shards_.empty()) {
      turn_ = turn_ % shards_.size();
      try {
        group_ = shards_[turn_]->take(control);
      } catch (const Error& e) {
        // An error of the files stays; that the run has ended says nothing of them.
        if (e.code() != Code::Cancelled && e.code() != Code::DeadlineExceeded) error_ = std::current_exception();
        throw;
      }
      if (!group_.empty()) {
        ++turn_;
        return true;
      }
      shards_.erase(shards_.begin() + static_cast<std::ptrdiff_t>(turn_));
    }
    return false;
  }

  void begin_epoch() {
    if (epoch_ > 0 && is_empty_) {
      throw error(Code::OutOfRange, "The files at {} hold no records", options_.pattern);
    }
    is_empty_ = true;
    ++epoch_;
    std::vector<std::string> files = io::match_files(options_.pattern);
    if (files.empty()) throw not_found("Found no files at {}", options_.pattern);
    char bytes[sizeof epoch_];
    std::memcpy(bytes, &epoch_, sizeof epoch_);
    std::mt19937_64 order(hash64({bytes, sizeof bytes}, static_cast<uint64_t>(options_.seed)));
    std::shuffle(files.begin(), files.end(), order);
    if (options_.shift_ratio >= 0 && options_.shift_ratio < 1) {
      const auto shift = static_cast<std::ptrdiff_t>(options_.shift_ratio * static_cast<float>(files.size()));
      std::rotate(files.begin(), files.begin() + std::min(shift, static_cast<std::ptrdiff_t>(files.size())),
                  files.end());
    }
    const auto step = static_cast<size_t>(options_.parallelism);
    for (size_t i = 0; i < std::min(step, files.size()); ++i) {
      std::vector<std::string> part;
      for (size_t j = i; j < files.size(); j += step) part.push_back(files[j]);
      shards_.push_back(std::make_unique<Shard>(std::move(part), compression_));
    }
    turn_ = 0;
  }

  const Options options_;
  const Compression compression_;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::mt19937_64 random_;
  uint64_t epoch_ = 0;
  bool is_empty_ = true;  // nothing of this epoch has come yet
  std::vector<std::unique_ptr<Shard>> shards_;
  size_t turn_ = 0;
  std::vector<std::string> group_, buffer_;
  std::exception_ptr error_;
};

struct State {
  ResourcePtr<RecordYielder> records;
};

int64_t positive(const PrepareContext& c, std::string_view attr) {
  const auto value = c.attr<int64_t>(attr);
  if (value <= 0) throw invalid_argument("{} must be greater than zero; it is {}", attr, value);
  return value;
}

State prepare(PrepareContext& c) {
  Options options{.pattern = c.attr<std::string>("file_pattern"),
                  .compression = c.attr<std::string>("compression_type"),
                  .seed = c.attr<int64_t>("file_random_seed"),
                  .buffer_size = positive(c, "file_buffer_size"),
                  .parallelism = positive(c, "file_parallelism"),
                  .shift_ratio = c.attr<float>("file_shuffle_shift_ratio")};
  return {c.node_resource<RecordYielder>([&] { return make_resource<RecordYielder>(std::move(options)); })};
}

void infer(InferContext& c) {
  const auto size = c.attr<int64_t>("batch_size");
  if (size < 0) throw invalid_argument("batch_size must not be negative; it is {}", size);
  c.set_output(0, Shape{size});
}

void cpu(KernelContext& c) {
  static const RunControl kNone;
  Tensor records(DType::String, Shape{c.node().attr<int64_t>("batch_size")});
  c.state<State>().records->take(c.control() ? *c.control() : kNone, records.elements(),
                                 static_cast<std::string*>(records.mutable_raw()));
  c.set_output(0, std::move(records));
}

}  // namespace

OpDef record_input_op() {
  return {.name = "RecordInput",
          .outputs = "records:string",
          .attrs =
              "file_pattern:string; file_random_seed:int=301; file_shuffle_shift_ratio:float=0.0; "
              "file_buffer_size:int=10000; file_parallelism:int=16; batch_size:int=32; compression_type:string=''",
          .flags = "stateful",
          .host = "records",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>, .gives_outputs = true},
          .waits = true,
          .host_only = true};
}

}  // namespace weir::ops

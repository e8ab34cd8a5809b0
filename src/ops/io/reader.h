#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "ops/kernel.h"
#include "ops/queue/queue.h"

namespace weir::ops {

// Gives the records of files one after the other. The names of the files (its work) come from a queue: a read that
// needs the next one waits for it there, without holding a thread, and others stand behind it in the order in which
// they came.
//
// Thread-safe. Errors and their words are TensorFlow's.
class Reader : public Resource {
 public:
  Reader(std::string kind, std::string name) : kind_(std::move(kind)), name_(std::move(name)) {}
  ~Reader() override;

  std::string describe() const override;  // "TFRecordReader 'TFRecordReaderV2'"

  // One record: its key and its value are the outputs of `c`. Calls `done` once, perhaps much later.
  void read(Queue& queue, KernelContext& c, Completion done);
  // Up to `count` records of one file, as vectors. At least one.
  void read_up_to(Queue& queue, int64_t count, KernelContext& c, Completion done);

  int64_t records_produced() const;
  int64_t work_units_completed() const;
  void reset();  // as it was in the beginning
  std::string serialize_state() const;
  void restore_state(const std::string& state);

 protected:
  struct Step {
    bool produced;  // a record was read
    bool at_end;    // the work holds no further one
  };
  // What kinds of readers differ in; all are called under the lock and may throw. Work that cannot be begun is left
  // out.
  virtual void begin(const std::string& work) = 0;
  virtual Step next(const std::string& work, std::string& key, std::string& value) = 0;
  virtual void end() {}
  // Whether a reader of this kind has no state between records but the name of its work.
  virtual bool can_be_saved() const { return false; }

 private:
  struct Request;
  using RequestPtr = std::shared_ptr<Request>;

  void start(RequestPtr request);
  // Serves the request whose turn it is, and then those behind it, until one has to wait for the queue.
  void serve(RequestPtr request);
  // Whether the request has ended. REQUIRES: the lock is held.
  bool try_read(Request& request);
  void take_work(Request& request);
  void finish_work();
  void cancel(Request& request);
  bool working() const { return work_started_ > work_finished_; }

  const std::string kind_, name_;
  mutable std::mutex mutex_;  // guards what follows
  std::deque<RequestPtr> behind_;
  bool turn_taken_ = false;  // somebody is served
  std::string work_;
  int64_t work_started_ = 0, work_finished_ = 0, records_ = 0;
};

}  // namespace weir::ops

#include "ops/io/reader.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>

#include "base/errors.h"
#include "io/varint.h"
#include "io/wire.h"
#include "ops/run_control.h"

namespace weir::ops {

namespace {

std::exception_ptr cancelled() {
  return std::make_exception_ptr(error(Code::Cancelled, "Read operation was cancelled"));
}

}  // namespace

// A read under way. The queue gives it the name of a file as output 0 of its context, where the record's key will stand
// in the end.
struct Reader::Request final : Completion::Receiver {
  Request(Reader& r, Queue& q, int64_t n, KernelContext& c, Completion d)
      : reader(r), queue(q), count(n), context(c), done(d) {}

  // The queue has given what it has, perhaps before the call that asked it has returned: that call goes on then.
  void complete(int, std::exception_ptr failure) noexcept override {
    error = std::move(failure);
    if (asked.exchange(Asked::Answered) == Asked::Left) reader.serve(std::move(self));
  }

  // The context is gone afterwards.
  void finish() {
    on_stop.reset();
    done(error);
  }

  Reader& reader;
  Queue& queue;
  const int64_t count;  // 0: a single record, as scalars
  KernelContext& context;
  const Completion done;
  std::exception_ptr error = {};
  std::vector<std::string> keys = {}, values = {};

  enum class Asked { Asking, Answered, Left };
  std::atomic<Asked> asked = Asked::Asking;
  bool has_work = false;  // the queue's answer is there
  RequestPtr self = {};   // while the queue is asked

  bool stopped = false;  // guarded by the reader's mutex
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
};

Reader::~Reader() = default;

std::string Reader::describe() const { return fmt::format("{} '{}'", kind_, name_); }

void Reader::read(Queue& queue, KernelContext& c, Completion done) {
  start(std::make_shared<Request>(*this, queue, 0, c, done));
}

void Reader::read_up_to(Queue& queue, int64_t count, KernelContext& c, Completion done) {
  if (count <= 0) throw invalid_argument("num_records must be positive; it is {}", count);
  start(std::make_shared<Request>(*this, queue, count, c, done));
}

void Reader::start(RequestPtr request) {
  const std::vector<DType>& types = request->queue.options().types;
  if (types.size() != 1 || types[0] != DType::String) {
    throw invalid_argument("{} takes the names of files from a queue of single strings; {} is none", describe(),
                           request->queue.describe());
  }
  {
    std::unique_lock lock(mutex_);
    if (turn_taken_) {
      // Before it stands in the line, and without the lock: a run that has been stopped already is told here.
      lock.unlock();
      if (request->context.control()) {
        request->on_stop.emplace(request->context.control()->stop, [r = request.get()] { r->reader.cancel(*r); });
      }
      lock.lock();
      if (request->stopped) {
        request->error = cancelled();
      } else if (turn_taken_) {
        behind_.push_back(std::move(request));
        return;
      }
    }
    if (!request->error) turn_taken_ = true;
  }
  if (request->error) return request->finish();
  serve(std::move(request));
}

void Reader::cancel(Request& request) {
  RequestPtr ended;
  {
    std::lock_guard lock(mutex_);
    request.stopped = true;
    auto at = std::find_if(behind_.begin(), behind_.end(), [&](const RequestPtr& r) { return r.get() == &request; });
    if (at == behind_.end()) return;  // not there yet, or it is its turn: then the queue ends the wait
    ended = std::move(*at);
    behind_.erase(at);
  }
  ended->error = cancelled();
  ended->finish();
}

void Reader::serve(RequestPtr request) {
  while (request) {
    bool ended = request->error != nullptr;
    if (!ended) {
      std::lock_guard lock(mutex_);
      try {
        if (request->has_work) take_work(*request);
        ended = try_read(*request);
      } catch (...) {
        request->error = std::current_exception();
        ended = true;
      }
    }
    if (!ended) {
      Request& waits = *request;
      waits.asked = Request::Asked::Asking;
      waits.has_work = true;
      waits.self = request;
      try {
        waits.queue.dequeue(waits.context, Completion(waits, 0));
      } catch (...) {
        waits.complete(0, std::current_exception());
      }
      // Whoever finds that the other has been there goes on.
      if (request->asked.exchange(Request::Asked::Left) != Request::Asked::Answered) return;
      request->self.reset();
      continue;
    }
    RequestPtr following;
    {
      std::lock_guard lock(mutex_);
      if (behind_.empty()) {
        turn_taken_ = false;
      } else {
        following = std::move(behind_.front());
        behind_.pop_front();
      }
    }
    request->finish();
    request = std::move(following);
  }
}

void Reader::take_work(Request& request) {
  request.has_work = false;
  work_ = *request.context.output<std::string>(0);
  begin(work_);
  ++work_started_;
}

bool Reader::try_read(Request& request) {
  const size_t wanted = static_cast<size_t>(std::max<int64_t>(request.count, 1));
  std::string key, value;
  while (working() && request.keys.size() < wanted) {
    const Step step = next(work_, key, value);
    if (step.produced) {
      request.keys.push_back(std::move(key));
      request.values.push_back(std::move(value));
    }
    if (step.at_end) finish_work();
  }
  if (request.keys.empty()) return false;
  records_ += static_cast<int64_t>(request.keys.size());
  if (request.count == 0) {
    request.context.set_output(0, Tensor(std::move(request.keys[0])));
    request.context.set_output(1, Tensor(std::move(request.values[0])));
  } else {
    request.context.set_output(0, Tensor(request.keys));
    request.context.set_output(1, Tensor(request.values));
  }
  return true;
}

void Reader::finish_work() {
  work_finished_ = work_started_;
  end();
}

int64_t Reader::records_produced() const {
  std::lock_guard lock(mutex_);
  return records_;
}

int64_t Reader::work_units_completed() const {
  std::lock_guard lock(mutex_);
  return work_finished_;
}

void Reader::reset() {
  std::lock_guard lock(mutex_);
  end();
  work_started_ = work_finished_ = records_ = 0;
  work_.clear();
}

// TensorFlow's ReaderBaseState: work_started = 1, work_finished = 2, num_records_produced = 3, current_work = 4.
std::string Reader::serialize_state() const {
  if (!can_be_saved()) throw error(Code::Unimplemented, "Reader SerializeState: {} cannot save its state", describe());
  std::lock_guard lock(mutex_);
  std::string state;
  unsigned char field = 1;
  for (int64_t number : {work_started_, work_finished_, records_}) {
    if (number != 0) {
      state.push_back(static_cast<char>(field << 3));
      io::put_varint(state, static_cast<uint64_t>(number));
    }
    ++field;
  }
  if (!work_.empty()) {
    state.push_back(static_cast<char>(field << 3 | 2));
    io::put_varint(state, work_.size());
    state += work_;
  }
  return state;
}

void Reader::restore_state(const std::string& state) {
  if (!can_be_saved()) throw error(Code::Unimplemented, "Reader RestoreState: {} cannot restore its state", describe());
  uint64_t numbers[3] = {};
  std::string_view work;
  io::WireReader reader(state);
  while (reader.next()) {
    if (reader.field() <= 3 && reader.kind() == io::WireReader::Kind::Varint) {
      reader.take_varint(numbers[reader.field() - 1]);
    } else if (reader.is(4, io::WireReader::Kind::Bytes)) {
      reader.take_bytes(work);
    } else {
      reader.skip();
    }
  }
  if (!reader.good()) throw invalid_argument("Could not parse state for {}: {} bytes", describe(), state.size());
  for (uint64_t number : numbers) {
    if (static_cast<int64_t>(number) < 0) {
      throw invalid_argument("Unexpected negative value when restoring in {}: {}", describe(),
                             static_cast<int64_t>(number));
    }
  }
  if (numbers[0] < numbers[1]) {
    throw invalid_argument("Inconsistent work started vs. finished when restoring in {}: {}/{}", describe(), numbers[0],
                           numbers[1]);
  }
  std::lock_guard lock(mutex_);
  work_started_ = static_cast<int64_t>(numbers[0]);
  work_finished_ = static_cast<int64_t>(numbers[1]);
  records_ = static_cast<int64_t>(numbers[2]);
  work_ = work;
  end();
  if (working()) begin(work_);
}

}  // namespace weir::ops

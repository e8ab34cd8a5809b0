#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <list>
#include <optional>
#include <thread>
#include <unordered_map>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/data/dataset.h"
#include "ops/queue/batcher.h"
#include "ops/run_control.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

using Clock = std::chrono::steady_clock;

// Tensors that runs leave for each other under numbers. Each is taken once. Thread-safe.
class Exchange final : public Resource {
 public:
  using Give = std::function<void(std::vector<Tensor>)>;

  Exchange() : thread_([this](const std::stop_token& stop) { expire(stop); }) {}
  ~Exchange() override {
    std::lock_guard lock(mutex_);
    thread_.request_stop();
    changed_.notify_all();
  }
  std::string describe() const override { return "an exchange of rows"; }

  void put(int64_t id, Tensor tensor, Clock::time_point until) {
    {
      std::lock_guard lock(mutex_);
      if (!stored_.emplace(id, Stored{std::move(tensor), until}).second) {
        throw invalid_argument("there are rows for the id {} already", id);
      }
      changed_.notify_all();
    }
    serve();
  }

  // Completes with what is under all of the numbers as soon as it is there, or with DeadlineExceeded.
  void take(std::vector<int64_t> ids, KernelContext& c, Completion done, Clock::time_point until, Give give) {
    auto waiter = std::make_shared<Waiter>(std::move(ids), done, until, std::move(give));
    if (const RunControl* control = c.control()) {
      waiter->on_stop.emplace(control->stop, [this, w = waiter.get()] {
        end(*w, std::make_exception_ptr(error(Code::Cancelled, "the wait for rows was cancelled")));
      });
    }
    {
      std::lock_guard lock(mutex_);
      if (waiter->over) throw error(Code::Cancelled, "the wait for rows was cancelled");
      waiters_.push_back(waiter);
      changed_.notify_all();
    }
    serve();
  }

 private:
  struct Stored {
    Tensor tensor;
    Clock::time_point until;
  };
  struct Waiter {
    Waiter(std::vector<int64_t> i, Completion d, Clock::time_point u, Give g)
        : ids(std::move(i)), done(d), until(u), give(std::move(g)) {}
    std::vector<int64_t> ids;
    Completion done;
    Clock::time_point until;
    Give give;
    bool over = false;  // guarded by mutex_
    std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
  };

  // Gives everybody who waits what has come.
  void serve() {
    std::vector<std::pair<std::shared_ptr<Waiter>, std::vector<Tensor>>> ready;
    {
      std::lock_guard lock(mutex_);
      for (auto it = waiters_.begin(); it != waiters_.end();) {
        Waiter& waiter = **it;
        auto is_stored = [&](int64_t id) { return stored_.contains(id); };
        if (!std::all_of(waiter.ids.begin(), waiter.ids.end(), is_stored)) {
          ++it;
          continue;
        }
        std::vector<Tensor> tensors;
        for (int64_t id : waiter.ids) tensors.push_back(std::move(stored_.extract(id).mapped().tensor));
        waiter.over = true;
        ready.emplace_back(std::move(*it), std::move(tensors));
        it = waiters_.erase(it);
      }
    }
    for (auto& [waiter, tensors] : ready) {
      waiter->on_stop.reset();
      std::exception_ptr error;
      try {
        waiter->give(std::move(tensors));
      } catch (...) {
        error = std::current_exception();
      }
      waiter->done(error);
    }
  }

  void end(Waiter& waiter, std::exception_ptr error) {
    std::shared_ptr<Waiter> own;
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(waiter.over, true)) return;
      auto at = std::find_if(waiters_.begin(), waiters_.end(), [&](const auto& w) { return w.get() == &waiter; });
      if (at == waiters_.end()) return;  // it is not listed yet, and will not be
      own = std::move(*at);
      waiters_.erase(at);
    }
    own->done(std::move(error));
  }

  // Ends who has waited too long, and drops what nobody has asked for.
  void expire(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto now = Clock::now();
      auto next = Clock::time_point::max();
      std::erase_if(stored_, [&](const auto& entry) { return entry.second.until <= now; });
      std::shared_ptr<Waiter> late;
      for (const auto& waiter : waiters_) {
        if (waiter->until <= now) late = waiter;
        next = std::min(next, waiter->until);
      }
      for (const auto& [id, stored] : stored_) next = std::min(next, stored.until);
      if (late) {
        lock.unlock();
        end(*late, std::make_exception_ptr(
                       error(Code::DeadlineExceeded, "Batched data did not arrive within timeout window.")));
        lock.lock();
        continue;
      }
      if (next == Clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, next);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_:
  std::unordered_map<int64_t, Stored> stored_;
  std::list<std::shared_ptr<Waiter>> waiters_;
  std::jthread thread_;  // the last: it uses all the others
};

struct State {
  ResourcePtr<Exchange> exchange;
};
State prepare(PrepareContext& c) {
  return {c.named_resource<Exchange>([](const std::string&) { return make_resource<Exchange>(); })};
}

// The rows of a batch index: who brought which rows.
struct Place {
  int64_t id, begin, end;
};
std::vector<Place> places_of(const KernelContext& c, int input) {
  const auto* row = c.input<int64_t>(input);
  std::vector<Place> places;
  for (int64_t i = 0; i < c.shape(input)[0]; ++i, row += 3) places.push_back({row[0], row[1], row[2]});
  return places;
}

void unbatch(KernelContext& c, Completion done) {
  constexpr int64_t kLongest = int64_t{366} * 24 * 3600 * 1000000;
  const auto timeout = std::clamp<int64_t>(c.node().attr<int64_t>("timeout_micros"), 0, kLongest);
  const Clock::time_point until = Clock::now() + std::chrono::microseconds(timeout);
  const ResourcePtr<Exchange> exchange = c.state<State>().exchange;
  const std::vector<Place> places = places_of(c, 1);
  const int64_t rows = c.shape(0)[0], id = c.scalar<int64_t>(2);
  for (const Place& place : places) {
    if (place.begin < 0 || place.begin > place.end || place.end > rows) {
      throw invalid_argument("batch_index has the rows [{}, {}) of a tensor of {}", place.begin, place.end, rows);
    }
  }
  const Tensor whole = places.empty() ? Tensor() : c.input_tensor(0);
  for (const Place& place : places) exchange->put(place.id, shared_rows(whole, place.begin, place.end), until);
  exchange->take({id}, c, done, until,
                 [&c](std::vector<Tensor> rows_of_id) { c.set_output(0, std::move(rows_of_id[0])); });
}

// The run that has the batch waits for the gradients of all others.
void unbatch_gradient(KernelContext& c, Completion done) {
  constexpr auto kPatience = std::chrono::minutes(10);
  const Clock::time_point until = Clock::now() + kPatience;
  const ResourcePtr<Exchange> exchange = c.state<State>().exchange;
  const std::vector<Place> places = places_of(c, 1);
  const Tensor original = c.input_tensor(0);
  exchange->put(c.scalar<int64_t>(3), c.input_tensor(2), until);
  if (places.empty()) {
    Shape shape = original.shape();
    shape.set_dim(0, 0);
    c.set_output(0, Tensor(original.dtype(), shape));
    done();
    return;
  }
  std::vector<int64_t> ids;
  for (const Place& place : places) ids.push_back(place.id);
  exchange->take(std::move(ids), c, done, until, [&c, original](std::vector<Tensor> parts) {
    Tensor joined = joined_rows(parts);
    // A batch may have been filled up: nothing depends on the rows that were added.
    const int64_t missing = original.shape()[0] - joined.shape()[0];
    if (missing > 0) {
      Shape shape = joined.shape();
      shape.set_dim(0, missing);
      Tensor zeros(joined.dtype(), shape);
      std::memset(zeros.mutable_raw(), 0, zeros.bytes());
      joined = joined_rows({joined, zeros});
    }
    c.set_output(0, std::move(joined));
  });
}

void require_index(InferContext& c, int input) {
  c.require_rank(input, 2);
  const Shape& shape = c.input(input);
  if (shape.has_rank() && shape[1] != kUnknown && shape[1] != 3)
    c.fail("batch_index must have 3 columns: " + shape.str());
}

Shape any_rows(Shape shape) {
  if (shape.has_rank()) shape.set_dim(0, kUnknown);
  return shape;
}

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  require_index(c, 1);
  c.require_scalar(2);
  c.set_output(0, any_rows(c.input(0)));
}

void infer_gradient(InferContext& c) {
  c.require_min_rank(0, 1);
  require_index(c, 1);
  c.require_min_rank(2, 1);
  c.require_scalar(3);
  c.set_output(0, any_rows(c.input(2)));
}

void gradient(GradContext& c) {
  c.set_input_grad(0, c.graph()
                          .add({.op = "UnbatchGrad",
                                .inputs = {c.input(0), c.input(1), c.output_grad(), c.input(2)},
                                .attrs = {{"shared_name", "unbatch_gradient_" + c.op().name()}}})
                          .output());
}

}  // namespace

OpDef unbatch_op() {
  return {.name = "Unbatch",
          .inputs = "batched_tensor:T; batch_index:int64; id:int64",
          .outputs = "unbatched_tensor:T",
          .attrs = "timeout_micros:int; container:string=''; shared_name:string=''; T:type",
          .host = "batched_tensor, batch_index, id, unbatched_tensor",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.start = start_any<unbatch>, .prepare = prepared<prepare>},
          .waits = true,
          .host_only = true};
}
OpDef unbatch_grad_op() {
  return {.name = "UnbatchGrad",
          .inputs = "original_input:T; batch_index:int64; grad:T; id:int64",
          .outputs = "batched_grad:T",
          .attrs = "container:string=''; shared_name:string=''; T:type",
          .host = "original_input, batch_index, grad, id, batched_grad",
          .infer = infer_gradient,
          .gradient = not_differentiable,
          .cpu = {.start = start_any<unbatch_gradient>, .prepare = prepared<prepare>},
          .waits = true,
          .host_only = true};
}

}  // namespace weir::ops

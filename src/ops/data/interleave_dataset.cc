#include <algorithm>
#include <deque>

#include "base/errors.h"
#include "ops/data/background.h"
#include "ops/data/parallel_map_dataset.h"

namespace weir::ops {
namespace {

// Threads that fill the buffers of several iterators, whichever asks first.
class Fillers {
 public:
  Fillers(const IterateContext& c, int64_t threads) : background_(c), threads_(threads) {}
  ~Fillers() { background_.end(); }
  Background& background() { return background_; }
  // REQUIRES: the background's mutex is held.
  void ask(std::function<void(const IterateContext&)> job) {
    jobs_.push_back(std::move(job));
    if (static_cast<int64_t>(background_.threads()) < threads_) {
      background_.start([this](const IterateContext& c) { work(c); });
    }
    background_.changed.notify_all();
  }

 private:
  void work(const IterateContext& c) {
    std::unique_lock lock(background_.mutex);
    while (background_.sleep(lock, [this] { return !jobs_.empty(); })) {
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job(c);
      lock.lock();
    }
  }

  Background background_;
  int64_t threads_;
  std::deque<std::function<void(const IterateContext&)>> jobs_;  // guarded by the background's mutex
};

// Elements of an iterator that the fillers make ahead.
class FilledIterator final : public ElementIterator {
 public:
  FilledIterator(Fillers& fillers, IteratorPtr input, size_t size)
      : fillers_(fillers), buffer_(std::make_shared<Buffer>(std::move(input), size)) {
    std::lock_guard lock(fillers_.background().mutex);
    ask();
  }

  // A job that is under way goes on with what it shares with it.
  bool next(const IterateContext& c, Element& out) override {
    Background& background = fillers_.background();
    std::unique_lock lock(background.mutex);
    background.wait(c, lock, [this] { return !buffer_->made.empty() || buffer_->ended; });
    if (buffer_->made.empty()) return false;
    Made made = std::move(buffer_->made.front());
    buffer_->made.pop_front();
    ask();
    lock.unlock();
    return made.give(out);
  }

  bool ready() const override {
    std::lock_guard lock(fillers_.background().mutex);
    return !buffer_->made.empty() || buffer_->ended;
  }

 private:
  struct Buffer {
    Buffer(IteratorPtr i, size_t s) : input(std::move(i)), size(s) {}
    IteratorPtr input;
    size_t size;
    // Guarded by the background's mutex:
    std::deque<Made> made;
    bool asked = false, ended = false;
  };

  void ask() {
    if (buffer_->asked || buffer_->ended || buffer_->made.size() >= buffer_->size) return;
    buffer_->asked = true;
    fillers_.ask([&background = fillers_.background(), buffer = buffer_](const IterateContext& c) {
      for (;;) {
        Made made;
        made.take(*buffer->input, c);
        std::lock_guard lock(background.mutex);
        buffer->ended = made.end;
        if (!made.end) buffer->made.push_back(std::move(made));
        background.changed.notify_all();
        if (!buffer->ended && buffer->made.size() < buffer->size && !background.stopped()) continue;
        buffer->asked = false;
        return;
      }
    });
  }

  Fillers& fillers_;
  std::shared_ptr<Buffer> buffer_;
};

struct Cycle {
  int64_t length, block;
  int64_t threads = 0;  // 0: nobody works ahead
  size_t buffer = 1;    // elements ahead of each data set
};

// The elements of several data sets that f makes, `block` of each in turn. Working ahead does not change the order.
class InterleaveDataset final : public UnaryDataset {
 public:
  InterleaveDataset(DatasetPtr input, CalledFunction f, const Cycle& cycle, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), f_(std::move(f)), cycle_(cycle) {}
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  class Iterator final : public UnaryIterator<InterleaveDataset> {
   public:
    Iterator(const InterleaveDataset& dataset, const IterateContext& c, const std::string& place)
        : UnaryIterator(dataset, c, place), place_(place) {
      if (dataset.cycle_.threads > 0) fillers_ = std::make_unique<Fillers>(c, dataset.cycle_.threads);
    }
    ~Iterator() override {
      if (fillers_) fillers_->background().end();
    }

    bool next(const IterateContext& c, Element& out) override {
      for (;;) {
        c.check();
        if (fillers_) open_ahead(c);
        if (ended_ && open_ == 0) return false;
        if (at_ < current_.size() && current_[at_]) {
          if (current_[at_]->next(c, out)) {
            if (++given_ >= dataset_.cycle_.block) advance();
            return true;
          }
          current_[at_].reset();
          --open_;
          advance();
        } else if (ended_ || !open(c, at_)) {
          advance();
        }
      }
    }

    bool ready() const override {
      if (at_ < current_.size() && current_[at_]) return current_[at_]->ready();
      return input_->ready();
    }

   private:
    // Makes the next data set the one at this place of the cycle.
    bool open(const IterateContext& c, size_t place) {
      Element element;
      if (!input_->next(c, element)) {
        ended_ = true;
        return false;
      }
      Element made;
      dataset_.f_(c, element, made);
      IteratorPtr opened =
          dataset_of(made, "InterleaveDataset")->iterate(c, place_ + "{" + std::to_string(opened_++) + "}");
      if (fillers_) opened = std::make_unique<FilledIterator>(*fillers_, std::move(opened), dataset_.cycle_.buffer);
      if (current_.size() <= place) current_.resize(place + 1);
      current_[place] = std::move(opened);
      ++open_;
      return true;
    }
    // The first round: whoever works ahead works on all of the cycle.
    void open_ahead(const IterateContext& c) {
      while (!ended_ && static_cast<int64_t>(current_.size()) < dataset_.cycle_.length) open(c, current_.size());
    }
    void advance() {
      given_ = 0;
      at_ = (at_ + 1) % static_cast<size_t>(dataset_.cycle_.length);
      if (ended_ && at_ >= current_.size()) at_ = 0;
    }

    std::string place_;
    std::unique_ptr<Fillers> fillers_;
    std::vector<IteratorPtr> current_;
    size_t at_ = 0;
    int64_t given_ = 0, opened_ = 0, open_ = 0;
    bool ended_ = false;
  };

  CalledFunction f_;
  Cycle cycle_;
};

void give(KernelContext& c, const Cycle& cycle) {
  if (cycle.length <= 0) throw invalid_argument("cycle_length must be greater than zero.");
  if (cycle.block <= 0) throw invalid_argument("block_length must be greater than zero.");
  set_dataset(
      c, std::make_shared<const InterleaveDataset>(
             dataset_input(c, 0), function_input(c, "f", 1, types_of_list(c, "Targuments")), cycle, declared_spec(c)));
}

constexpr int64_t kMaxThreads = 64;
constexpr int64_t kMaxAhead = 64;  // elements of one data set

void interleave(KernelContext& c) {
  const int at = 1 + types_of_list(c, "Targuments");
  give(c, {c.scalar<int64_t>(at), c.scalar<int64_t>(at + 1)});
}

void parallel_v2(KernelContext& c) {
  const int at = 1 + types_of_list(c, "Targuments");
  Cycle cycle{c.scalar<int64_t>(at), c.scalar<int64_t>(at + 1)};
  if (cycle.length == -1) cycle.length = parallel_calls(-1);
  cycle.threads =
      std::min({parallel_calls(c.scalar<int64_t>(at + 2)), std::max<int64_t>(cycle.length, 1), kMaxThreads});
  cycle.buffer = static_cast<size_t>(std::clamp<int64_t>(cycle.block, 1, kMaxAhead));
  give(c, cycle);
}

void parallel_v1(KernelContext& c) {
  const int at = 1 + types_of_list(c, "Targuments");
  Cycle cycle{c.scalar<int64_t>(at), c.scalar<int64_t>(at + 1)};
  const auto ahead = c.scalar<int64_t>(at + 3), prefetch = c.scalar<int64_t>(at + 4);
  if (ahead < 1) throw invalid_argument("`buffer_output_elements` must be > 0");
  if (prefetch < 0) throw invalid_argument("`prefetch_input_elements` must be >= 0");
  cycle.threads = std::clamp<int64_t>(cycle.length, 1, kMaxThreads);
  cycle.buffer = static_cast<size_t>(std::min(ahead, kMaxAhead));
  give(c, cycle);
}

OpDef row(std::string_view name, std::string_view inputs, std::string_view attrs, std::string_view host,
          ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = inputs,
          .outputs = "handle:variant",
          .attrs = attrs,
          .host = host,
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = select, .gives_outputs = true},
          .host_only = true};
}

constexpr std::string_view kAttrs =
    "f:func; Targuments:list(type)>=0; output_types:list(type)>=1; output_shapes:list(shape)>=1";

}  // namespace

OpDef interleave_dataset_op() {
  return row("InterleaveDataset",
             "input_dataset:variant; other_arguments:Targuments; cycle_length:int64; block_length:int64", kAttrs,
             "input_dataset, other_arguments, cycle_length, block_length, handle", kernel_any<interleave>);
}
OpDef parallel_interleave_dataset_v2_op() {
  return row("ParallelInterleaveDatasetV2",
             "input_dataset:variant; other_arguments:Targuments; cycle_length:int64; block_length:int64; "
             "num_parallel_calls:int64",
             "f:func; Targuments:list(type)>=0; output_types:list(type)>=1; output_shapes:list(shape)>=1; "
             "sloppy:bool=False",
             "input_dataset, other_arguments, cycle_length, block_length, num_parallel_calls, handle",
             kernel_any<parallel_v2>);
}
OpDef parallel_interleave_dataset_op() {
  return row("ParallelInterleaveDataset",
             "input_dataset:variant; other_arguments:Targuments; cycle_length:int64; block_length:int64; sloppy:bool; "
             "buffer_output_elements:int64; prefetch_input_elements:int64",
             kAttrs,
             "input_dataset, other_arguments, cycle_length, block_length, sloppy, buffer_output_elements, "
             "prefetch_input_elements, handle",
             kernel_any<parallel_v1>);
}

}  // namespace weir::ops

#include "ops/data/parallel_map_dataset.h"

#include <algorithm>
#include <deque>

#include "base/errors.h"
#include "ops/data/background.h"

namespace weir::ops {
namespace {

constexpr int64_t kMaxThreads = 256;

class ParallelMapDataset final : public UnaryDataset {
 public:
  ParallelMapDataset(DatasetPtr input, CalledFunction f, int64_t calls, bool sloppy, ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)), f_(std::move(f)), calls_(calls), sloppy_(sloppy) {}
  int64_t cardinality() const override { return input()->cardinality(); }
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  // Each thread takes an element, with its place in the order, and calls the function. There are never more results
  // than calls: who asks slowly stops the threads.
  class Iterator final : public UnaryIterator<ParallelMapDataset> {
   public:
    Iterator(const ParallelMapDataset& dataset, const IterateContext& c, const std::string& place)
        : UnaryIterator(dataset, c, place), background_(c) {}
    ~Iterator() override { background_.end(); }

    bool next(const IterateContext& c, Element& out) override {
      std::unique_lock lock(background_.mutex);
      while (static_cast<int64_t>(background_.threads()) < std::min(dataset_.calls_, kMaxThreads)) {
        background_.start([this](const IterateContext& own) { work(own); });
      }
      background_.wait(c, lock, [this] { return first_done() != results_.end() || at_end(); });
      if (at_end()) return false;
      auto done = first_done();
      const std::shared_ptr<Result> result = std::move(*done);
      results_.erase(done);
      background_.changed.notify_all();
      lock.unlock();
      return result->made.give(out);
    }

    int64_t skip(const IterateContext& c, int64_t count) override {
      const bool begun = background_.threads() > 0;
      return begun || dataset_.f_.stateful(c) ? ElementIterator::skip(c, count) : input_->skip(c, count);
    }

    bool ready() const override {
      std::lock_guard lock(background_.mutex);
      return first_done() != results_.end() || at_end();
    }

   private:
    struct Result {
      Made made;
      bool done = false;  // guarded by the background's mutex
    };
    using Results = std::deque<std::shared_ptr<Result>>;

    Results::iterator first_done() const {
      auto done = [](const std::shared_ptr<Result>& r) { return r->done; };
      if (dataset_.sloppy_) return std::find_if(results_.begin(), results_.end(), done);
      return !results_.empty() && results_.front()->done ? results_.begin() : results_.end();
    }
    bool at_end() const { return ended_ && results_.empty(); }

    void work(const IterateContext& c) {
      Element element;
      for (;;) {
        auto result = std::make_shared<Result>();
        {
          // Elements are taken in the order in which their results are listed.
          std::lock_guard in_turn(taking_);
          {
            std::unique_lock lock(background_.mutex);
            auto has_room = [this] { return ended_ || static_cast<int64_t>(results_.size()) < dataset_.calls_; };
            if (!background_.sleep(lock, has_room) || ended_) return;
            results_.push_back(result);
          }
          Made taken;
          taken.take(*input_, c);
          if (taken.end || taken.error) {
            finish(*result, std::move(taken));
            continue;
          }
          element = std::move(taken.element);
        }
        Made made;
        try {
          dataset_.f_(c, element, made.element);
        } catch (...) {
          made.error = std::current_exception();
        }
        element.clear();
        finish(*result, std::move(made));
      }
    }

    void finish(Result& result, Made made) {
      std::lock_guard lock(background_.mutex);
      if (made.end) {
        ended_ = true;
        std::erase_if(results_, [&](const std::shared_ptr<Result>& r) { return r.get() == &result; });
      }
      result.made = std::move(made);
      result.done = true;
      background_.changed.notify_all();
    }

    std::mutex taking_;
    mutable Background background_;
    // Guarded by the background's mutex:
    mutable Results results_;
    bool ended_ = false;
  };

  CalledFunction f_;
  int64_t calls_;
  bool sloppy_;
};

void cpu(KernelContext& c) {
  const int captured = types_of_list(c, "Targuments");
  set_dataset(c, parallel_mapped(dataset_input(c, 0), function_input(c, "f", 1, captured),
                                 parallel_calls(c.scalar<int32_t>(1 + captured)), c.node().attr<bool>("sloppy"),
                                 declared_spec(c)));
}

}  // namespace

int64_t parallel_calls(int64_t wanted) {
  if (wanted == -1) return std::max(1u, std::thread::hardware_concurrency());
  if (wanted <= 0) throw invalid_argument("num_parallel_calls must be greater than zero.");
  return wanted;
}

DatasetPtr parallel_mapped(DatasetPtr input, CalledFunction f, int64_t calls, bool sloppy, ElementSpec spec) {
  return std::make_shared<const ParallelMapDataset>(std::move(input), std::move(f), calls, sloppy, std::move(spec));
}

OpDef parallel_map_dataset_op() {
  return {.name = "ParallelMapDataset",
          .inputs = "input_dataset:variant; other_arguments:Targuments; num_parallel_calls:int32",
          .outputs = "handle:variant",
          .attrs =
              "f:func; Targuments:list(type)>=0; output_types:list(type)>=1; output_shapes:list(shape)>=1; "
              "use_inter_op_parallelism:bool=True; sloppy:bool=False; preserve_cardinality:bool=False",
          .host = "input_dataset, other_arguments, num_parallel_calls, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

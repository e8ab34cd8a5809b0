#include <condition_variable>

#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// The same elements, each of which comes late.
class SleepDataset final : public UnaryDataset {
 public:
  SleepDataset(DatasetPtr input, int64_t microseconds) : UnaryDataset(std::move(input)), delay_(microseconds) {}
  int64_t cardinality() const override { return input()->cardinality(); }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<SleepDataset> {
      using UnaryIterator::UnaryIterator;
      bool next(const IterateContext& c, Element& out) override {
        std::mutex mutex;
        std::condition_variable_any over;
        std::stop_callback wake(c.stop, [&] {
          std::lock_guard lock(mutex);
          over.notify_all();
        });
        {
          std::unique_lock lock(mutex);
          const auto until = std::min(c.control.deadline, std::chrono::steady_clock::now() + dataset_.delay_);
          over.wait_until(lock, c.control.stop, until, [&] { return c.stop.stop_requested(); });
        }
        c.check();
        return input_->next(c, out);
      }
    };
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  std::chrono::microseconds delay_;
};

void cpu(KernelContext& c) {
  const auto microseconds = c.scalar<int64_t>(1);
  if (microseconds < 0) throw invalid_argument("`sleep_microseconds` must be >= 0");
  // A year is as good as any longer time, and cannot overflow the clock.
  constexpr int64_t kLongest = int64_t{366} * 24 * 3600 * 1000000;
  set_dataset(c, std::make_shared<const SleepDataset>(dataset_input(c, 0), std::min(microseconds, kLongest)));
}

}  // namespace

OpDef sleep_dataset_op() {
  return {.name = "SleepDataset",
          .inputs = "input_dataset:variant; sleep_microseconds:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, sleep_microseconds, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

#include "ops/data/prefetch_dataset.h"

#include <algorithm>

#include "base/errors.h"

namespace weir::ops {
namespace {

constexpr size_t kMaxGrown = 64;

class PrefetchDataset final : public UnaryDataset {
 public:
  PrefetchDataset(DatasetPtr input, int64_t size) : UnaryDataset(std::move(input)), size_(size) {}
  int64_t cardinality() const override { return input()->cardinality(); }
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    IteratorPtr iterator = input()->iterate(c, place + "/");
    if (size_ == 0) return iterator;
    return std::make_unique<PrefetchIterator>(c, std::move(iterator), size_);
  }

 private:
  int64_t size_;
};

void cpu(KernelContext& c) {
  const auto size = c.scalar<int64_t>(1);
  if (size < -1) throw invalid_argument("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
  set_dataset(c, std::make_shared<const PrefetchDataset>(dataset_input(c, 0), size));
}

}  // namespace

PrefetchIterator::PrefetchIterator(const IterateContext& c, IteratorPtr input, int64_t size)
    : input_(std::move(input)), background_(c), size_(size < 0 ? 1 : static_cast<size_t>(size)), grows_(size < 0) {}

bool PrefetchIterator::next(const IterateContext& c, Element& out) {
  std::unique_lock lock(background_.mutex);
  if (background_.threads() == 0) {
    background_.start([this](const IterateContext& own) { work(own); });
  } else if (grows_ && made_.empty() && !ended_) {
    size_ = std::min(size_ * 2, kMaxGrown);
  }
  background_.wait(c, lock, [this] { return !made_.empty() || ended_; });
  if (made_.empty()) return false;
  Made made = std::move(made_.front());
  made_.pop_front();
  background_.changed.notify_all();
  lock.unlock();
  return made.give(out);
}

int64_t PrefetchIterator::skip(const IterateContext& c, int64_t count) {
  return background_.threads() > 0 ? ElementIterator::skip(c, count) : input_->skip(c, count);
}

bool PrefetchIterator::ready() const {
  std::lock_guard lock(background_.mutex);
  return !made_.empty() || ended_;
}

void PrefetchIterator::work(const IterateContext& c) {
  for (;;) {
    {
      std::unique_lock lock(background_.mutex);
      if (!background_.sleep(lock, [this] { return made_.size() < size_; })) return;
    }
    Made made;
    made.take(*input_, c);
    std::lock_guard lock(background_.mutex);
    ended_ = made.end;
    if (!made.end) made_.push_back(std::move(made));
    background_.changed.notify_all();
    if (ended_) return;
  }
}

OpDef prefetch_dataset_op() {
  return {.name = "PrefetchDataset",
          .inputs = "input_dataset:variant; buffer_size:int64",
          .outputs = "handle:variant",
          .attrs =
              "output_types:list(type)>=1; output_shapes:list(shape)>=1; slack_period:int=0; legacy_autotune:bool=True",
          .host = "input_dataset, buffer_size, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

#include <limits>
#include <mutex>
#include <vector>

#include "base/errors.h"
#include "ops/random/candidate_sampler.h"
#include "ops/types.h"
#include "weir/candidate_ops.h"

// Draws classes as often as they were seen: every run's true classes count from the next run on.
namespace weir::ops {
namespace {

// How often each class was seen, and once more; sums over ranges of classes in logarithmic time (a Fenwick tree).
class Counts final : public Resource {
 public:
  explicit Counts(int64_t range) : tree_(static_cast<size_t>(range) + 1, 0), counts_(static_cast<size_t>(range), 0) {
    for (int64_t k = 0; k < range; ++k) add(k);
  }
  std::string describe() const override { return "the counts of a sampler"; }

  int64_t total() const { return total_; }
  int64_t count(int64_t k) const { return counts_[static_cast<size_t>(k)]; }
  void add(int64_t k) {
    ++total_;
    ++counts_[static_cast<size_t>(k)];
    for (auto i = static_cast<size_t>(k) + 1; i < tree_.size(); i += i & (~i + 1)) ++tree_[i];
  }
  // The class at `place` when every class stands as often as it counts.
  int64_t at(int64_t place) const {
    size_t found = 0, step = 1;
    while (step * 2 < tree_.size()) step *= 2;
    for (; step > 0; step /= 2) {
      if (found + step < tree_.size() && tree_[found + step] <= place) place -= tree_[found += step];
    }
    return static_cast<int64_t>(found);
  }

  std::mutex mutex;

 private:
  std::vector<int64_t> tree_, counts_;
  int64_t total_ = 0;
};

struct State : SamplerState {
  ResourcePtr<Counts> counts;
};

State prepare(PrepareContext& c) {
  SamplerState sampler = prepare_sampler(c);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (sampler.range >= kMost) throw invalid_argument("range_max {} is too large for a learned unigram", sampler.range);
  auto make = [&] { return ResourcePtr<Counts>(new Counts(sampler.range)); };
  return {sampler, c.node_resource<Counts>(make)};
}

void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  Counts& counts = *state.counts;
  const std::lock_guard lock(counts.mutex);
  const auto total = static_cast<uint32_t>(counts.total());
  sample_candidates(
      c, [&](WordStream& words) { return counts.at(static_cast<int64_t>(next_below32(words, total))); },
      [&](int64_t k) { return static_cast<float>(counts.count(k)) / static_cast<float>(counts.total()); });
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (counts.total() + c.elements(0) >= kMost) return;  // as TensorFlow: what was learned by then stays
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const int64_t k = c.input<int64_t>(0)[i];
    if (k >= 0 && k < state.range) counts.add(k);
  }
}

}  // namespace

OpDef learned_unigram_candidate_sampler_op() {
  return sampler_row("LearnedUnigramCandidateSampler", {.select = kernel_any<cpu>, .prepare = prepared<prepare>});
}
// In TensorFlow the same without a lock.
OpDef thread_unsafe_unigram_candidate_sampler_op() {
  return sampler_row("ThreadUnsafeUnigramCandidateSampler", {.select = kernel_any<cpu>, .prepare = prepared<prepare>});
}

}  // namespace weir::ops

namespace weir::nn {

SampledCandidates learned_unigram_candidate_sampler(const In& true_classes, const SamplerOptions& options,
                                                    std::string_view name) {
  return sample_candidates("LearnedUnigramCandidateSampler", true_classes, options, name);
}

}  // namespace weir::nn

#include "ops/data/dataset.h"
#include "ops/random/word_stream.h"

namespace weir::ops {
namespace {

// Each element with the given probability.
class SamplingDataset final : public UnaryDataset {
 public:
  SamplingDataset(DatasetPtr input, float rate, std::pair<uint64_t, uint64_t> seeds)
      : UnaryDataset(std::move(input)), rate_(rate), seeds_(seeds) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : UnaryIterator<SamplingDataset> {
      Iterator(const SamplingDataset& d, const IterateContext& c, const std::string& place, Pipeline::Seeds seeds)
          : UnaryIterator(d, c, place), words(cpu::Philox(seeds.first, seeds.second)) {}
      bool next(const IterateContext& c, Element& out) override {
        for (;;) {
          c.check();
          if (!input_->next(c, out)) return false;
          // 23 bits of a word, as TensorFlow makes floats in [0, 1).
          const auto drawn = static_cast<float>(words.next() & 0x7fffffu) * 0x1p-23f;
          if (drawn < dataset_.rate_) return true;
        }
      }
      WordStream words;
    };
    return std::make_unique<Iterator>(*this, c, place, c.pipeline.seeds(place, seeds_));
  }

 private:
  float rate_;
  std::pair<uint64_t, uint64_t> seeds_;
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const SamplingDataset>(dataset_input(c, 0), c.scalar<float>(1), seed_inputs(c, 2)));
}

}  // namespace

OpDef sampling_dataset_op() {
  return {.name = "SamplingDataset",
          .inputs = "input_dataset:variant; rate:float; seed:int64; seed2:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, rate, seed, seed2, handle",
          .infer = infer_dataset<0, 1, 2, 3>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

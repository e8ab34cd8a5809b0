#include "ops/data/dataset.h"
#include "ops/random/word_stream.h"

namespace weir::ops {
namespace {

// Words of a Philox stream without end, the same in every iteration.
class RandomDataset final : public Dataset {
 public:
  RandomDataset(std::pair<uint64_t, uint64_t> seeds, ElementSpec spec) : Dataset(std::move(spec)), seeds_(seeds) {}
  int64_t cardinality() const override { return kInfiniteCardinality; }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Iterator final : IteratorOf<RandomDataset> {
      Iterator(const RandomDataset& d, std::pair<uint64_t, uint64_t> seeds)
          : IteratorOf(d), words(cpu::Philox(seeds.first, seeds.second)) {}
      bool next(const IterateContext&, Element& out) override {
        out = {Tensor(static_cast<int64_t>(words.next()))};
        return true;
      }
      WordStream words;
    };
    return std::make_unique<Iterator>(*this, c.pipeline.seeds(place, seeds_));
  }

 private:
  std::pair<uint64_t, uint64_t> seeds_;
};

void cpu(KernelContext& c) {
  set_dataset(c, std::make_shared<const RandomDataset>(seed_inputs(c, 0), declared_spec(c)));
}

}  // namespace

OpDef random_dataset_op() {
  return {.name = "RandomDataset",
          .inputs = "seed:int64; seed2:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "seed, seed2, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

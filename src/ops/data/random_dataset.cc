#include "ops/data/dataset.h"
#include "ops/random/word_stream.h"

namespace weir::ops {
namespace {

// Words of a Philox stream without end, the same in every iteration.
class RandomDataset final : public Dataset {
 public:
  RandomDataset(std::pair<uint64_t, uint64_t> seeds, ElementSpec spec) : Dataset(std::move(spec)), seeds_(seeds) {}
  int64_t cardinality() const override { return kInfiniteCardinality; }

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct Iterator final : IteratorOf<RandomDataset> {
      explicit Iterator(const RandomDataset& d) : IteratorOf(d), words(cpu::Philox(d.seeds_.first, d.seeds_.second)) {}
      bool next(const IterateContext&, Element& out) override {
        out = {Tensor(static_cast<int64_t>(words.next()))};
        return true;
      }
      WordStream words;
    };
    return std::make_unique<Iterator>(*this);
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

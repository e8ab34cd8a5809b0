#include <deque>

#include "base/errors.h"
#include "ops/data/data_resources.h"

namespace weir::ops {
namespace {

// A buffer of elements from which one is drawn at a time, with TensorFlow's generator, so that equal seeds give its
// order. With a count it also repeats: elements of an epoch come out before those of the next, whose beginning may be
// in the buffer already.
class ShuffleDataset final : public UnaryDataset {
 public:
  ShuffleDataset(DatasetPtr input, int64_t size, std::pair<uint64_t, uint64_t> seeds, int64_t count, bool reshuffle)
      : UnaryDataset(std::move(input)), size_(size), seeds_(seeds), count_(count), reshuffle_(reshuffle) {}
  // Every iteration takes its seeds from a generator that others may use as well.
  ShuffleDataset(DatasetPtr input, int64_t size, RandomSeedGenerator& generator)
      : UnaryDataset(std::move(input)), size_(size), count_(1), generator_(&generator) {}

  int64_t cardinality() const override {
    const int64_t n = input()->cardinality();
    if (n == 0) return 0;
    if (n == kInfiniteCardinality || count_ < 0) return kInfiniteCardinality;
    return n < 0 ? n : n * count_;
  }

  DatasetPtr repeated(int64_t count) const override {
    if (!reshuffle_) return nullptr;
    return std::make_shared<const ShuffleDataset>(input(), size_, seeds_, count, false);
  }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    if (generator_) return std::make_unique<Iterator>(*this, place, generator_->next());
    auto seeds = c.pipeline.seeds(place, seeds_);
    if (reshuffle_) {
      auto make = [&] { return std::make_shared<RandomSeedGenerator>(seeds); };
      seeds = c.pipeline.state<RandomSeedGenerator>(place, make)->next();
    }
    return std::make_unique<Iterator>(*this, place, seeds);
  }

 private:
  class Iterator final : public IteratorOf<ShuffleDataset> {
   public:
    Iterator(const ShuffleDataset& dataset, std::string place, std::pair<uint64_t, uint64_t> seeds)
        : IteratorOf(dataset), place_(std::move(place) + "/"), words_(cpu::Philox(seeds.first, seeds.second)) {
      epochs_.push_back({0, 0});
    }

    bool next(const IterateContext& c, Element& out) override {
      if (!begun_) open(c);
      while (input_ && held() < dataset_.size_) {
        c.check();
        Element element;
        bool got = false;
        while (dataset_.count_ < 0 || epoch_ < dataset_.count_) {
          if ((got = input_->next(c, element))) break;
          if (is_empty_ && dataset_.count_ < 0) break;  // or it would go on for ever
          ++epoch_;
          epochs_.push_back({epochs_.back().end, epochs_.back().end});
          open(c);
        }
        if (got) {
          is_empty_ = false;
          const auto place = static_cast<size_t>(epochs_.back().end++ % dataset_.size_);
          // The buffer grows with what is in it: programs ask for more room than there are elements.
          if (buffer_.size() <= place) buffer_.resize(place + 1);
          buffer_[place] = std::move(element);
        } else {
          input_.reset();
        }
        if (epochs_.size() > kMaxEpochs) break;
      }
      if (held() == 0) return false;
      while (epochs_.front().begin == epochs_.front().end) epochs_.pop_front();
      Epoch& epoch = epochs_.front();
      const int64_t drawn = epoch.begin + words_.next() % (epoch.end - epoch.begin);
      Element& chosen = buffer_[static_cast<size_t>(drawn % dataset_.size_)];
      out = std::move(chosen);
      chosen = std::move(buffer_[static_cast<size_t>(epoch.begin % dataset_.size_)]);
      ++epoch.begin;
      return true;
    }

   private:
    static constexpr size_t kMaxEpochs = 3;  // begun in the buffer, as in TensorFlow
    struct Epoch {
      int64_t begin, end;  // of its elements, counted over all epochs; places are these modulo the buffer's size
    };
    int64_t held() const { return epochs_.back().end - epochs_.front().begin; }
    void open(const IterateContext& c) {
      begun_ = true;
      input_ = dataset_.input()->iterate(c, place_);
    }

    std::string place_;
    WordStream words_;
    IteratorPtr input_;
    std::vector<Element> buffer_;
    std::deque<Epoch> epochs_;
    int64_t epoch_ = 0;
    bool begun_ = false, is_empty_ = true;
  };

  int64_t size_;
  std::pair<uint64_t, uint64_t> seeds_ = {};
  int64_t count_;
  bool reshuffle_ = false;
  ResourcePtr<RandomSeedGenerator> generator_;
};

int64_t size_input(const KernelContext& c) {
  const auto size = c.scalar<int64_t>(1);
  if (size <= 0) throw invalid_argument("buffer_size must be greater than zero.");
  return size;
}

void shuffle(KernelContext& c) {
  set_dataset(c, std::make_shared<const ShuffleDataset>(dataset_input(c, 0), size_input(c), seed_inputs(c, 2), 1,
                                                        c.node().attr<bool>("reshuffle_each_iteration")));
}

void shuffle_by_generator(KernelContext& c) {
  set_dataset(c, std::make_shared<const ShuffleDataset>(dataset_input(c, 0), size_input(c),
                                                        c.resource<RandomSeedGenerator>(2)));
}

void shuffle_and_repeat(KernelContext& c) {
  const auto count = c.scalar<int64_t>(4);
  if (count <= 0 && count != -1) throw invalid_argument("count must be greater than zero or equal to -1.");
  set_dataset(
      c, std::make_shared<const ShuffleDataset>(dataset_input(c, 0), size_input(c), seed_inputs(c, 2), count, false));
}

}  // namespace

OpDef shuffle_dataset_op() {
  return {.name = "ShuffleDataset",
          .inputs = "input_dataset:variant; buffer_size:int64; seed:int64; seed2:int64",
          .outputs = "handle:variant",
          .attrs = "reshuffle_each_iteration:bool=True; output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .host = "input_dataset, buffer_size, seed, seed2, handle",
          .infer = infer_dataset<0, 1, 2, 3>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<shuffle>, .gives_outputs = true},
          .host_only = true};
}
OpDef shuffle_dataset_v2_op() {
  return {.name = "ShuffleDatasetV2",
          .inputs = "input_dataset:variant; buffer_size:int64; seed_generator:resource",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "input_dataset, buffer_size, seed_generator, handle",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<shuffle_by_generator>, .gives_outputs = true},
          .host_only = true};
}
OpDef shuffle_and_repeat_dataset_op() {
  return {.name = "ShuffleAndRepeatDataset",
          .inputs = "input_dataset:variant; buffer_size:int64; seed:int64; seed2:int64; count:int64",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, buffer_size, seed, seed2, count, handle",
          .infer = infer_dataset<0, 1, 2, 3, 4>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<shuffle_and_repeat>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

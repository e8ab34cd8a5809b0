#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "base/errors.h"
#include "ops/random/candidate_sampler.h"
#include "ops/types.h"
#include "weir/candidate_ops.h"

// Draws classes by frequencies that are given, in a list or a file.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  infer_sampler(c);
  const bool file = !c.attr<std::string>("vocab_file").empty(), list = !c.attr<std::vector<float>>("unigrams").empty();
  if (file == list) {
    throw invalid_argument("Must provide {}vocab_file {} unigrams.", file ? "only one of " : "either ",
                           file ? "and" : "or");
  }
  if (c.attr<int64_t>("shard") >= c.attr<int64_t>("num_shards")) {
    throw invalid_argument("shard {} is not in [0, {})", c.attr<int64_t>("shard"), c.attr<int64_t>("num_shards"));
  }
}

// The last column of a file of comma-separated values.
std::vector<float> read_frequencies(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw not_found("{}: the vocabulary cannot be read", path);
  std::vector<float> frequencies;
  for (std::string line; std::getline(file, line);) {
    const size_t comma = line.find_last_of(',');
    const std::string number = comma == std::string::npos ? line : line.substr(comma + 1);
    try {
      frequencies.push_back(std::stof(number));
    } catch (const std::exception&) {
      throw invalid_argument("Wrong vocabulary format at line: {}", line);
    }
  }
  return frequencies;
}

// Walker's method: each class has a bucket, which it shares with at most one other class.
class Buckets {
 public:
  explicit Buckets(const std::vector<float>& weights) : keep_(weights.size()), other_(weights.size(), -1) {
    double sum = 0;
    for (float weight : weights) sum += static_cast<double>(weight);
    std::vector<double> share(weights.size());
    std::vector<int> high, low;
    for (size_t i = 0; i < weights.size(); ++i) {
      share[i] = static_cast<double>(weights[i]) * static_cast<double>(weights.size()) / sum;
      (share[i] < 1 ? low : high).push_back(static_cast<int>(i));
    }
    while (!high.empty() && !low.empty()) {
      const auto l = static_cast<size_t>(low.back()), h = static_cast<size_t>(high.back());
      low.pop_back();
      high.pop_back();
      other_[l] = static_cast<int>(h);
      share[h] -= 1 - share[l];
      (share[h] < 1 ? low : high).push_back(static_cast<int>(h));
    }
    for (size_t i = 0; i < share.size(); ++i) keep_[i] = static_cast<float>(share[i]);
    // Rounding leaves buckets that are full but for the last digits.
    for (const auto& rest : {high, low}) {
      for (int i : rest) keep_[static_cast<size_t>(i)] = 1, other_[static_cast<size_t>(i)] = i;
    }
  }

  int64_t draw(WordStream& words) const {
    const float place = static_cast<float>(words.next() & 0x7fffffu) * 0x1p-23f;
    const uint32_t bucket = next_below32(words, static_cast<uint32_t>(keep_.size()));
    return place < keep_[bucket] ? static_cast<int64_t>(bucket) : other_[bucket];
  }

 private:
  std::vector<float> keep_;
  std::vector<int> other_;
};

struct State : SamplerState {
  std::vector<float> weights;
  float total;
  Buckets buckets;
};

State prepare(PrepareContext& c) {
  SamplerState sampler = prepare_sampler(c);
  const auto& path = c.attr<std::string>("vocab_file");
  std::vector<float> given = path.empty() ? c.attr<std::vector<float>>("unigrams") : read_frequencies(path);
  const int64_t reserved = c.attr<int64_t>("num_reserved_ids");
  if (reserved < 0) throw invalid_argument("num_reserved_ids {} is negative", reserved);
  const int64_t shards = c.attr<int64_t>("num_shards"), shard = c.attr<int64_t>("shard");
  // Reserved ids stand before the others and are never drawn; classes of other shards are left out of the buckets.
  std::vector<float> weights;
  float total = 0;
  for (int64_t i = 0; i < reserved + static_cast<int64_t>(given.size()); ++i) {
    if (i % shards != shard) continue;
    const float weight =
        i < reserved ? 0.f : std::pow(given[static_cast<size_t>(i - reserved)], c.attr<float>("distortion"));
    weights.push_back(weight);
    total += weight;
  }
  if (!(total > 0) || !std::isfinite(total)) throw invalid_argument("the frequencies add up to {}", total);
  if (static_cast<int64_t>(weights.size()) != sampler.range) {
    throw invalid_argument("range_max is {}, but there are {} classes", sampler.range, weights.size());
  }
  const auto possible = std::count_if(weights.begin(), weights.end(), [](float weight) { return weight > 0; });
  if (sampler.unique && possible < sampler.num_sampled) {
    throw invalid_argument("{} different classes cannot be drawn from {}", sampler.num_sampled, possible);
  }
  Buckets buckets(weights);
  return {sampler, std::move(weights), total, std::move(buckets)};
}

void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  sample_candidates(
      c, [&](WordStream& words) { return state.buckets.draw(words); },
      [&](int64_t k) { return state.weights[static_cast<size_t>(k)] / state.total; });
}

}  // namespace

OpDef fixed_unigram_candidate_sampler_op() {
  OpDef row = sampler_row("FixedUnigramCandidateSampler", {.select = kernel_any<cpu>, .prepare = prepared<prepare>});
  row.attrs =
      "num_true:int>=1; num_sampled:int>=1; unique:bool; range_max:int>=1; vocab_file:string=''; distortion:float=1.0; "
      "num_reserved_ids:int=0; num_shards:int>=1=1; shard:int>=0=0; unigrams:list(float)=[]; seed:int=0; seed2:int=0";
  row.infer = infer;
  return row;
}

}  // namespace weir::ops

namespace weir::nn {

SampledCandidates fixed_unigram_candidate_sampler(const In& true_classes, const SamplerOptions& options,
                                                  const UnigramOptions& unigrams, std::string_view name) {
  Graph& graph = true_classes.output().graph();
  const Seeds seeds = graph.next_seeds(options.seed);
  Operation op = NodeBuilder("FixedUnigramCandidateSampler", name, true_classes.where())
                     .input(true_classes)
                     .attr("num_true", options.num_true)
                     .attr("num_sampled", options.num_sampled)
                     .attr("unique", options.unique)
                     .attr("range_max", options.range_max)
                     .attr("vocab_file", unigrams.vocab_file)
                     .attr("distortion", unigrams.distortion)
                     .attr("num_reserved_ids", unigrams.num_reserved_ids)
                     .attr("num_shards", unigrams.num_shards)
                     .attr("shard", unigrams.shard)
                     .attr("unigrams", unigrams.unigrams)
                     .attr("seed", seeds.seed)
                     .attr("seed2", seeds.seed2)
                     .build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir::nn

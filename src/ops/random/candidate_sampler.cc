#include "ops/random/candidate_sampler.h"

#include <cmath>
#include <unordered_set>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/run_control.h"

namespace weir::ops {

void infer_sampler(InferContext& c) {
  const int64_t samples = c.attr<int64_t>("num_sampled");
  c.require_rank(0, 2);
  const Shape true_classes = c.input(0).merged(Shape{kUnknown, c.attr<int64_t>("num_true")});
  if (c.attr<bool>("unique") && samples > c.attr<int64_t>("range_max")) {
    throw invalid_argument("{} different classes cannot be drawn from {}", samples, c.attr<int64_t>("range_max"));
  }
  c.set_output(0, Shape{samples});
  c.set_output(1, true_classes);
  c.set_output(2, Shape{samples});
}

OpDef sampler_row(std::string_view name, Kernel cpu) {
  return {.name = name,
          .inputs = "true_classes:int64",
          .outputs = kSamplerOutputs,
          .attrs = kSamplerAttrs,
          .flags = "stateful",
          .infer = infer_sampler,
          .gradient = not_differentiable,
          .cpu = cpu};
}

SamplerState prepare_sampler(PrepareContext& c) {
  return {prepare_generator(c).generator, c.attr<int64_t>("num_sampled"), c.attr<int64_t>("range_max"),
          c.attr<bool>("unique")};
}

uint64_t next_word64(WordStream& words) {
  const uint64_t low = words.next(), high = words.next();
  return low | high << 32;
}

// Words of the incomplete last round would make small numbers likelier and are drawn again.
uint64_t next_below(WordStream& words, uint64_t n) {
  if ((n & (n - 1)) == 0) return next_word64(words) & (n - 1);
  const uint64_t rest = ~uint64_t{0} % n + 1;
  uint64_t word;
  do word = next_word64(words);
  while (word < rest);
  return word % n;
}

uint32_t next_below32(WordStream& words, uint32_t n) {
  if ((n & (n - 1)) == 0) return words.next() & (n - 1);
  const uint32_t rest = ~uint32_t{0} % n + 1;
  uint32_t word;
  do word = words.next();
  while (word < rest);
  return word % n;
}

float expected_count(float probability, int64_t samples, int64_t tries) {
  if (tries == samples) return probability * static_cast<float>(samples);
  return static_cast<float>(-std::expm1(static_cast<double>(tries) * std::log1p(-static_cast<double>(probability))));
}

int64_t draw_classes(KernelContext& c, const SamplerState& state, int64_t* classes,
                     FunctionRef<int64_t(WordStream&)> draw) {
  constexpr int64_t kWordsPerSample = 2048;
  WordStream words(state.generator->philox.reserve((kWordsPerSample * state.num_sampled + 3) / 4));
  if (!state.unique) {
    for (int64_t i = 0; i < state.num_sampled; ++i) classes[i] = draw(words);
    return state.num_sampled;
  }
  std::unordered_set<int64_t> drawn;
  int64_t tries = 0;
  for (int64_t i = 0; i < state.num_sampled;) {
    // To find the last rare classes of a long tail may take a very long time.
    constexpr int64_t kBetweenLooks = 1 << 16;
    if (++tries % kBetweenLooks == 0 && c.control()) c.control()->check();
    const int64_t candidate = draw(words);
    if (drawn.insert(candidate).second) classes[i++] = candidate;
  }
  return tries;
}

void sample_candidates(KernelContext& c, FunctionRef<int64_t(WordStream&)> draw,
                       FunctionRef<float(int64_t)> probability) {
  const auto& state = c.state<SamplerState>();
  auto* sampled = c.output<int64_t>(0);
  const int64_t tries = draw_classes(c, state, sampled, draw);
  auto expect = [&](const int64_t* classes, int64_t n, float* counts) {
    for (int64_t i = 0; i < n; ++i) {
      // TensorFlow asks for the probability of whatever stands there; a class out of range has none.
      const bool known = classes[i] >= 0 && classes[i] < state.range;
      counts[i] = expected_count(known ? probability(classes[i]) : 0, state.num_sampled, tries);
    }
  };
  expect(c.input<int64_t>(0), c.elements(0), c.output<float>(1));
  expect(sampled, state.num_sampled, c.output<float>(2));
}

}  // namespace weir::ops

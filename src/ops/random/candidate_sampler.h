#pragma once

#include "ops/random/generator.h"
#include "ops/random/word_stream.h"
#include "weir/shape.h"

// What the samplers of candidate classes share: signature, shapes, drawing with and without repetition.
namespace weir::ops {

inline constexpr std::string_view kSamplerOutputs =
    "sampled_candidates:int64; true_expected_count:float; sampled_expected_count:float";
inline constexpr std::string_view kSamplerAttrs =
    "num_true:int>=1; num_sampled:int>=1; unique:bool; range_max:int>=1; seed:int=0; seed2:int=0";

struct SamplerState {
  ResourcePtr<Generator> generator;
  int64_t num_sampled, range;
  bool unique;
};
void infer_sampler(InferContext& c);
SamplerState prepare_sampler(PrepareContext& c);

// Numbers as TensorFlow's SimplePhilox makes them from a stream of words.
uint64_t next_word64(WordStream& words);
uint64_t next_below(WordStream& words, uint64_t n);
uint32_t next_below32(WordStream& words, uint32_t n);  // of one word each

// How often a class of that probability is expected among the samples that took `tries` draws.
float expected_count(float probability, int64_t samples, int64_t tries);

// Draws `samples` classes by draw(words), different ones if `unique`. Gives the number of draws.
int64_t draw_classes(KernelContext& c, const SamplerState& state, int64_t* classes,
                     FunctionRef<int64_t(WordStream&)> draw);

// The row of a sampler with this kernel.
OpDef sampler_row(std::string_view name, Kernel cpu);

// The whole kernel for a fixed distribution.
void sample_candidates(KernelContext& c, FunctionRef<int64_t(WordStream&)> draw,
                       FunctionRef<float(int64_t)> probability);

}  // namespace weir::ops

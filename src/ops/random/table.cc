#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(random_uniform) row(random_uniform_int) row(random_standard_normal) row(truncated_normal) row(random_shuffle) \
  row(random_gamma) row(random_poisson) row(random_poisson_v2) row(multinomial) row(stateless_multinomial) \
  row(log_uniform_candidate_sampler) row(uniform_candidate_sampler) row(compute_accidental_hits) \
  row(learned_unigram_candidate_sampler) row(thread_unsafe_unigram_candidate_sampler) \
  row(fixed_unigram_candidate_sampler) row(all_candidate_sampler) \
  row(stateless_random_uniform) row(stateless_random_normal) row(stateless_truncated_normal) \
  row(stateless_random_uniform_int) row(stateful_standard_normal) row(stateful_standard_normal_v2) \
  row(stateful_uniform) row(stateful_truncated_normal) row(stateful_uniform_int) row(stateful_uniform_full_int) \
  row(non_deterministic_ints) row(rng_skip) row(parameterized_truncated_normal) row(stateful_random_binomial) \
  row(random_gamma_grad)
// clang-format on
WEIR_OP_TABLE(random_ops, ROWS)

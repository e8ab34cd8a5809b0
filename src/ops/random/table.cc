#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(random_uniform) row(random_uniform_int) row(random_standard_normal) row(truncated_normal) row(random_shuffle) \
  row(random_gamma) row(random_poisson) row(random_poisson_v2) row(multinomial) row(stateless_multinomial) \
  row(log_uniform_candidate_sampler) row(uniform_candidate_sampler) row(compute_accidental_hits) \
  row(learned_unigram_candidate_sampler) row(thread_unsafe_unigram_candidate_sampler) \
  row(fixed_unigram_candidate_sampler) row(all_candidate_sampler)
// clang-format on
WEIR_OP_TABLE(random_ops, ROWS)

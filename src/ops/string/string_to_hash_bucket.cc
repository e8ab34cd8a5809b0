#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/string/hash.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

struct State {
  uint64_t buckets, key0 = 0, key1 = 0;
};

State prepare(PrepareContext& c) { return {static_cast<uint64_t>(c.attr<int64_t>("num_buckets"))}; }

State prepare_strong(PrepareContext& c) {
  const auto& key = c.attr<std::vector<int64_t>>("key");
  if (key.size() != 2) throw invalid_argument("Key must have 2 elements");
  State state = prepare(c);
  state.key0 = static_cast<uint64_t>(key[0]);
  state.key1 = static_cast<uint64_t>(key[1]);
  return state;
}

// The key is checked when the node is made.
void infer_strong(InferContext& c) {
  if (c.attr<std::vector<int64_t>>("key").size() != 2) throw invalid_argument("Key must have 2 elements");
  infer::unchanged(c);
}

template <class Hash>
void fill_buckets(KernelContext& c, const Hash& hash) {
  c.pool().parallel_for(c.elements(0), 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      c.output<int64_t>()[i] = static_cast<int64_t>(hash(c.input<std::string>(0)[i]) % c.state<State>().buckets);
    }
  });
}

void cpu(KernelContext& c) {
  fill_buckets(c, [](std::string_view text) { return hash64(text); });
}
void cpu_fast(KernelContext& c) { fill_buckets(c, fingerprint64); }
void cpu_strong(KernelContext& c) {
  const State& state = c.state<State>();
  fill_buckets(c, [&](std::string_view text) { return keyed_hash64(text, state.key0, state.key1); });
}

}  // namespace

OpDef string_to_hash_bucket_op() {
  return {.name = "StringToHashBucket",
          .inputs = "string_tensor:string",
          .outputs = "output:int64",
          .attrs = "num_buckets:int>=1",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

OpDef string_to_hash_bucket_fast_op() {
  return {.name = "StringToHashBucketFast",
          .inputs = "input:string",
          .outputs = "output:int64",
          .attrs = "num_buckets:int>=1",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_fast>, .prepare = prepared<prepare>},
          .host_only = true};
}

OpDef string_to_hash_bucket_strong_op() {
  return {.name = "StringToHashBucketStrong",
          .inputs = "input:string",
          .outputs = "output:int64",
          .attrs = "num_buckets:int>=1; key:list(int)",
          .infer = infer_strong,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_strong>, .prepare = prepared<prepare_strong>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output string_to_hash_bucket_fast(const In& input, int64_t num_buckets, std::string_view name) {
  return NodeBuilder("StringToHashBucketFast", name).input(input).attr("num_buckets", num_buckets).output();
}
Output string_to_hash_bucket_strong(const In& input, int64_t num_buckets, const std::vector<int64_t>& key,
                                    std::string_view name) {
  return NodeBuilder("StringToHashBucketStrong", name)
      .input(input)
      .attr("num_buckets", num_buckets)
      .attr("key", key)
      .output();
}

}  // namespace weir

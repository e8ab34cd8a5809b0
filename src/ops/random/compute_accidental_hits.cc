#include <limits>
#include <unordered_map>
#include <vector>

#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/candidate_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  (void)c.input(0).merged(Shape{kUnknown, c.attr<int64_t>("num_true")});
  c.require_rank(1, 1);
  for (int i = 0; i < 3; ++i) c.set_output(i, Shape::unknown_dims(1));
}

void cpu(KernelContext& c) {
  std::unordered_map<int64_t, int64_t> places;
  for (int64_t i = 0; i < c.elements(1); ++i) places.emplace(c.input<int64_t>(1)[i], i);
  std::vector<int32_t> rows;
  std::vector<int64_t> ids;
  const int64_t num_true = c.shape(0)[1];
  for (int64_t i = 0; i < c.elements(0); ++i) {
    auto hit = places.find(c.input<int64_t>(0)[i]);
    if (hit == places.end()) continue;
    rows.push_back(static_cast<int32_t>(i / num_true));
    ids.push_back(hit->second);
  }
  c.set_output(2, Tensor(std::vector<float>(ids.size(), -std::numeric_limits<float>::max())));
  c.set_output(0, Tensor(rows));
  c.set_output(1, Tensor(ids));
}

}  // namespace

OpDef compute_accidental_hits_op() {
  return {.name = "ComputeAccidentalHits",
          .inputs = "true_classes:int64; sampled_candidates:int64",
          .outputs = "indices:int32; ids:int64; weights:float",
          .attrs = "num_true:int; seed:int=0; seed2:int=0",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops

namespace weir::nn {

AccidentalHits compute_accidental_hits(const In& true_classes, const In& sampled_candidates, int64_t num_true,
                                       std::optional<int64_t> seed, std::string_view name) {
  const Seeds seeds = true_classes.output().graph().next_seeds(seed);
  Operation op = NodeBuilder("ComputeAccidentalHits", name)
                     .input(true_classes)
                     .input(sampled_candidates)
                     .attr("num_true", num_true)
                     .attr("seed", seeds.seed)
                     .attr("seed2", seeds.seed2)
                     .build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir::nn

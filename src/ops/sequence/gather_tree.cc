#include <algorithm>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/sequence_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 3);
  c.require_rank(1, 3);
  c.require_rank(2, 1);
  c.require_scalar(3);
  const Shape steps = c.input(0).merged(c.input(1)).merged(Shape::unknown_dims(3));
  if (!c.input(2).compatible({steps[1]})) {
    throw invalid_argument("max_sequence_lengths {} is no vector of batch size {}", c.input(2).str(), steps[1]);
  }
  c.set_output(0, steps);
}

// One beam, from its last step back to the first.
class Beam {
 public:
  Beam(const KernelContext& c, int64_t batch, int64_t beam)
      : ids_(c.input<int32_t>(0)),
        parents_(c.input<int32_t>(1)),
        batches_(c.shape(0)[1]),
        width_(c.shape(0)[2]),
        batch_(batch),
        beam_(beam) {}

  void trace(int32_t* beams, int64_t length, int32_t end_token) const {
    int64_t from = beam_;
    for (int64_t t = length - 1; t >= 0; --t) {
      beams[at(t, beam_)] = ids_[at(t, from)];
      const int32_t parent = parents_[at(t, from)];
      if (t > 0 && (parent < 0 || parent >= width_)) {
        throw invalid_argument("Saw invalid parent id {} at (batch, time, beam) == ({}, {}, {})", parent, batch_, t,
                               beam_);
      }
      from = parent;
    }
    bool ended = false;
    for (int64_t t = 0; t < length; ++t) {
      int32_t& id = beams[at(t, beam_)];
      if (ended) id = end_token;
      ended = ended || id == end_token;
    }
  }

 private:
  int64_t at(int64_t t, int64_t beam) const { return (t * batches_ + batch_) * width_ + beam; }
  const int32_t *ids_, *parents_;
  int64_t batches_, width_, batch_, beam_;
};

void cpu(KernelContext& c) {
  const int64_t time = c.shape(0)[0], batch = c.shape(0)[1], width = c.shape(0)[2];
  const auto end_token = c.scalar<int32_t>(3);
  auto* beams = c.output<int32_t>();
  std::fill_n(beams, c.output_elements(), end_token);
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = std::min<int64_t>(time, c.input<int32_t>(2)[b]);
    for (int64_t beam = 0; beam < width; ++beam) Beam(c, b, beam).trace(beams, length, end_token);
  }
}

}  // namespace

OpDef gather_tree_op() {
  return {.name = "GatherTree",
          .inputs = "step_ids:T; parent_ids:T; max_sequence_lengths:int32; end_token:T",
          .outputs = "beams:T",
          .attrs = "T:type{int32}",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output gather_tree(const In& step_ids, const In& parent_ids, const In& max_sequence_lengths, const In& end_token,
                   std::string_view name) {
  return NodeBuilder("GatherTree", name, step_ids.where())
      .input(step_ids)
      .input(parent_ids)
      .input(max_sequence_lengths)
      .input(end_token)
      .output();
}

}  // namespace weir::nn

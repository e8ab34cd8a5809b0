#include <cmath>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"
#include "weir/nn.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  const Shape predictions = c.input(0).merged(Shape::unknown_dims(2)),
              targets = c.input(1).merged(Shape::unknown_dims(1));
  if (!Shape{predictions[0]}.compatible(targets)) {
    throw invalid_argument("First dimension of predictions {} must match length of targets {}", predictions[0],
                           targets[0]);
  }
  c.set_output(0, targets.merged(Shape{predictions[0]}));
}

struct State {
  int64_t k;
};

State prepare(PrepareContext& c) { return {c.attr<int64_t>("k")}; }

// Whether fewer than k classes are predicted more strongly than the target.
bool in_top_k(const float* predictions, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(predictions[target])) return false;
  int64_t stronger = 0;
  for (int64_t i = 0; i < classes; ++i) {
    if (!std::isfinite(predictions[i])) return false;  // TensorFlow's rule: such a row has no order
    stronger += predictions[i] > predictions[target];
  }
  return stronger < k;
}

template <class T>
void compute(KernelContext& c, int64_t k) {
  const int64_t classes = c.shape(0)[1];
  const float* predictions = c.input<float>(0);
  const T* targets = c.input<T>(1);
  bool* result = c.output<bool>();
  c.pool().parallel_for(c.output_elements(), std::max<int64_t>(1, 16384 / std::max<int64_t>(classes, 1)),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t row = begin; row < end; ++row) {
                            result[row] = in_top_k(predictions + row * classes, classes, targets[row], k);
                          }
                        });
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    compute<T>(c, c.state<State>().k);
  }
};

struct CpuV2 {
  template <class T>
  static void run(KernelContext& c) {
    compute<T>(c, c.scalar<T>(2));
  }
};

void infer_v2(InferContext& c) {
  infer(c);
  c.require_scalar(2);
}

}  // namespace

OpDef in_top_k_op() {
  return {.name = "InTopK",
          .inputs = "predictions:float; targets:T",
          .outputs = "precision:bool",
          .attrs = "k:int; T:type{int32,int64}=int32",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Cpu>, .prepare = prepared<prepare>}};
}

OpDef in_top_k_v2_op() {
  return {.name = "InTopKV2",
          .inputs = "predictions:float; targets:T; k:T",
          .outputs = "precision:bool",
          .attrs = "T:type{int32,int64}=int32",
          .infer = infer_v2,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, CpuV2>}};
}

}  // namespace weir::ops

namespace weir::nn {

Output in_top_k(const In& predictions, const In& targets, const In& k, std::string_view name) {
  Scope scope = predictions.output().graph().name_scope(name.empty() ? "in_top_k" : name);
  return NodeBuilder("InTopKV2").input(predictions).input(targets).input(k).output();
}

}  // namespace weir::nn

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/random/generator.h"
#include "ops/random/stateless_seed.h"
#include "ops/random/word_stream.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  std::optional<int64_t> samples = scalar_argument(c, 1);
  if (samples && *samples < 0) throw invalid_argument("num_samples should be non-negative, got {}", *samples);
  const Shape& logits = c.input(0);
  c.set_output(0, Shape{logits.has_rank() ? logits[0] : kUnknown, samples.value_or(kUnknown)});
}

GeneratorRef prepare(PrepareContext& c) {
  // A graph may be built with it, as TensorFlow's may.
  if (c.input(0)[1] == 0) throw invalid_argument("num_classes should be positive, got 0");
  c.set_scratch(static_cast<size_t>(c.input(0)[1]) * sizeof(double));
  return prepare_generator(c);
}

// Each sample is where a uniform number falls in the cumulated probabilities. One row after the other, since the next
// one goes on in the stream of words.
template <class T, class Out>
void sample(KernelContext& c, WordStream stream) {
  const int64_t rows = c.shape(0).dims()[0], classes = c.shape(0).dims()[1], samples = c.scalar<int32_t>(1);
  auto* cumulated = static_cast<double*>(c.scratch());
  Out* out = c.output<Out>();
  for (int64_t row = 0; row < rows; ++row) {
    const T* logits = c.input<T>(0) + row * classes;
    double largest = -HUGE_VAL, total = 0;
    for (int64_t i = 0; i < classes; ++i) {
      double logit = static_cast<double>(logits[i]);
      if (std::isfinite(logit)) largest = std::max(largest, logit);
    }
    for (int64_t i = 0; i < classes; ++i) {
      double logit = static_cast<double>(logits[i]);
      if (std::isfinite(logit)) total += std::exp(logit - largest);
      cumulated[i] = total;
    }
    for (int64_t i = 0; i < samples; ++i) {
      double at = stream.next_double() * total;
      *out++ = static_cast<Out>(std::upper_bound(cumulated, cumulated + classes, at) - cumulated);
    }
  }
}

template <class T, class Out>
void cpu(KernelContext& c) {
  if (c.output_elements() == 0) return;
  const int64_t rows = c.shape(0).dims()[0], samples = c.scalar<int32_t>(1);
  const int64_t words = rows * ((samples + 3) / 4 * 4) * 2;
  sample<T, Out>(c, WordStream(c.state<GeneratorRef>().generator->philox.reserve_outputs(words)));
}

template <class T, class Out>
void stateless(KernelContext& c) {
  if (c.output_elements() == 0) return;
  sample<T, Out>(c, WordStream(stateless_stream(c, 2)));
}

void infer_stateless(InferContext& c) {
  infer(c);
  require_seed(c, 2);
}

int prepare_stateless(PrepareContext& c) {
  c.set_scratch(static_cast<size_t>(c.input(0)[1]) * sizeof(double));
  return 0;
}

template <class Out>
struct Stateless {
  template <class T>
  static void run(KernelContext& c) {
    stateless<T, Out>(c);
  }
};

ComputeFn select_stateless(const NodeView& node) {
  return node.type("output_dtype") == DType::Int32 ? kernel_for<FloatTypes, Stateless<int32_t>>(node)
                                                   : kernel_for<FloatTypes, Stateless<int64_t>>(node);
}

struct Int32Out {
  template <class T>
  static void run(KernelContext& c) {
    cpu<T, int32_t>(c);
  }
};
struct Int64Out {
  template <class T>
  static void run(KernelContext& c) {
    cpu<T, int64_t>(c);
  }
};

ComputeFn select(const NodeView& node) {
  return node.type("output_dtype") == DType::Int32 ? kernel_for<FloatTypes, Int32Out>(node)
                                                   : kernel_for<FloatTypes, Int64Out>(node);
}

}  // namespace

OpDef multinomial_op() {
  return {.name = "Multinomial",
          .inputs = "logits:T; num_samples:int32",
          .outputs = "output:output_dtype",
          .attrs = "seed:int=0; seed2:int=0; T:realnumbertype; output_dtype:type{int32,int64}=int64",
          .flags = "stateful",
          .host = "num_samples",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = select, .prepare = prepared<prepare>}};
}

OpDef stateless_multinomial_op() {
  return {.name = "StatelessMultinomial",
          .inputs = "logits:T; num_samples:int32; seed:Tseed",
          .outputs = "output:output_dtype",
          .attrs = "T:realnumbertype; Tseed:type{int32,int64}=int64; output_dtype:type{int32,int64}=int64",
          .host = "num_samples, seed",
          .infer = infer_stateless,
          .gradient = not_differentiable,
          .cpu = {.select = select_stateless, .prepare = prepared<prepare_stateless>}};
}

}  // namespace weir::ops

namespace weir {

Output multinomial(const In& logits, const In& num_samples, const MultinomialOptions& options, std::string_view name) {
  Graph& graph = ops::graph_of({&logits, &num_samples});
  LineScope line(graph, source_line(logits.where()));
  Scope scope = graph.name_scope(ops::name_or(name, "multinomial"));
  Output weights = ops::to_output(graph, logits, "logits");
  Seeds seeds = graph.next_seeds(options.seed);
  return NodeBuilder("Multinomial")
      .input(weights)
      .input(num_samples)
      .attr("seed", seeds.seed)
      .attr("seed2", seeds.seed2)
      .attr("output_dtype", options.output_dtype)
      .output();
}

}  // namespace weir

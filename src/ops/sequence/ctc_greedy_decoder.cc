#include <vector>

#include "ops/sequence/ctc.h"
#include "ops/types.h"
#include "weir/sequence_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape inputs = infer_ctc(c, 1);
  c.set_output(0, {kUnknown, 2});
  c.set_output(1, {kUnknown});
  c.set_output(2, {2});
  c.set_output(3, {inputs[1], 1});
}

struct State {
  bool merge_repeated;
};

State prepare(PrepareContext& c) { return {c.attr<bool>("merge_repeated")}; }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const CtcShape shape = checked_ctc(c, 1);
    const int64_t blank = shape.classes - 1;
    const bool merge = c.state<State>().merge_repeated;
    T* log_probability = c.output<T>(3);
    std::vector<std::vector<int64_t>> sequences(static_cast<size_t>(shape.batch));
    for (int64_t b = 0; b < shape.batch; ++b) {
      log_probability[b] = 0;
      int64_t previous = -1;
      for (int64_t t = 0; t < c.input<int32_t>(1)[b]; ++t) {
        const T* row = c.input<T>(0) + (t * shape.batch + b) * shape.classes;
        int64_t best = 0;
        for (int64_t k = 1; k < shape.classes; ++k) {
          if (row[k] > row[best]) best = k;
        }
        log_probability[b] -= row[best];
        if (best != blank && !(merge && best == previous)) sequences[static_cast<size_t>(b)].push_back(best);
        previous = best;
      }
    }
    set_sparse_labels(c, 0, 1, sequences);
  }
};

}  // namespace

OpDef ctc_greedy_decoder_op() {
  return {.name = "CTCGreedyDecoder",
          .inputs = "inputs:T; sequence_length:int32",
          .outputs = "decoded_indices:int64; decoded_values:int64; decoded_shape:int64; log_probability:T",
          .attrs = "merge_repeated:bool=False; T:type{float,double}=float",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<float, double>, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::nn {

CtcGreedyDecoding ctc_greedy_decoder(const In& inputs, const In& sequence_length, bool merge_repeated,
                                     std::string_view name) {
  Operation op = NodeBuilder("CTCGreedyDecoder", name, inputs.where())
                     .input(inputs)
                     .input(sequence_length)
                     .attr("merge_repeated", merge_repeated)
                     .build();
  return {{op.output(0), op.output(1), op.output(2)}, op.output(3)};
}

}  // namespace weir::nn

#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

struct State {
  int batch, seq;
};

// Counted from the front only, as in TensorFlow.
int axis_of(const AttrMap& attrs, const char* name, int rank) {
  const auto axis = attrs.get<int64_t>(name);
  if (axis < 0) throw invalid_argument("Invalid {} {}", name, axis);
  if (axis >= rank) throw invalid_argument("{} must be < input rank: {} vs. {}", name, axis, rank);
  return static_cast<int>(axis);
}

State axes(const AttrMap& attrs, int rank) {
  return {axis_of(attrs, "batch_dim", rank), axis_of(attrs, "seq_dim", rank)};
}

void check_length(int64_t i, int64_t length, int64_t steps) {
  if (length < 0) throw invalid_argument("seq_lens({}) < 0", i);
  if (length > steps) throw invalid_argument("seq_lens({}) > input.dims(seq_dim): {} > {}", i, length, steps);
}

void infer(InferContext& c) {
  c.require_rank(1, 1);
  const Shape& x = c.input(0);
  c.set_output(0, x);
  if (!x.has_rank()) return;
  const State at = axes(c.attrs(), x.rank());
  (void)Shape{x[at.batch]}.merged(c.input(1));
  // Here too, because a result without elements is never computed.
  const auto lengths = c.value_as_ints(1);
  if (!lengths || x[at.seq] == kUnknown) return;
  for (size_t i = 0; i < lengths->size(); ++i) check_length(static_cast<int64_t>(i), (*lengths)[i], x[at.seq]);
}

State prepare(PrepareContext& c) {
  const State at = axes(c.node().attrs(), c.input(0).rank());
  // A graph may be built with it, as TensorFlow's may.
  if (at.batch == at.seq) throw invalid_argument("batch_dim == seq_dim == {}", at.seq);
  return at;
}

void cpu(KernelContext& c) {
  const int batch = c.state<State>().batch, seq = c.state<State>().seq;
  const Shape& shape = c.shape(0);
  const int64_t steps = shape[seq];
  for (int64_t i = 0; i < c.elements(1); ++i) {
    check_length(i, int_at(c, 1, i), steps);
  }
  const int last = std::max(batch, seq);
  const int64_t inner = product(shape, last + 1, shape.rank());  // moves as one
  const int64_t batch_stride = product(shape, batch + 1, last + 1), seq_stride = product(shape, seq + 1, last + 1);
  with_element_type(c.dtype(0), [&]<class T>(T) {
    for (int64_t i = 0; i < product(shape, 0, last + 1); ++i) {
      const int64_t step = i / seq_stride % steps, length = int_at(c, 1, i / batch_stride % shape[batch]);
      const int64_t from = step < length ? i + (length - 1 - 2 * step) * seq_stride : i;
      std::copy_n(c.input<T>(0) + from * inner, inner, c.output<T>() + i * inner);
    }
  });
}

void gradient(GradContext& c) {
  c.set_input_grad(
      0, reverse_sequence(c.output_grad(), c.input(1), c.attr<int64_t>("seq_dim"), c.attr<int64_t>("batch_dim")));
}

}  // namespace

OpDef reverse_sequence_op() {
  return {.name = "ReverseSequence",
          .inputs = "input:T; seq_lengths:Tlen",
          .outputs = "output:T",
          .attrs = "seq_dim:int; batch_dim:int=0; T:type; Tlen:type{int32,int64}=int64",
          .host = "seq_lengths",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output reverse_sequence(const In& input, const In& seq_lengths, int64_t seq_axis, int64_t batch_axis,
                        std::string_view name) {
  return NodeBuilder("ReverseSequence", name)
      .input(input)
      .input(seq_lengths)
      .attr("seq_dim", seq_axis)
      .attr("batch_dim", batch_axis)
      .output();
}

}  // namespace weir

#include <complex>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "weir/ops.h"

namespace weir::ops {

OpDef transpose_op();

namespace {

void infer(InferContext& c) {
  c.require_rank(1, 1);
  const Shape &from = c.input(0), &length = c.input(1);
  int rank = from.rank();
  if (length.has_rank() && length[0] != kUnknown) {
    if (rank >= 0 && length[0] != rank) {
      throw invalid_argument("a permutation of {} dimensions is given for shape {}", length[0], from.str());
    }
    if (length[0] > kMaxRank) throw invalid_argument("a permutation of {} dimensions", length[0]);
    rank = static_cast<int>(length[0]);
  }
  if (rank < 0) return;
  std::optional<std::vector<int64_t>> perm = c.value_as_ints(1);
  if (!perm) return c.set_output(0, Shape::unknown_dims(rank));
  Shape to;
  uint64_t seen = 0;
  for (int64_t p : *perm) {
    if (p < 0 || p >= rank) throw invalid_argument("{} is out of range [0 .. {})", p, rank);
    if (seen >> p & 1) throw invalid_argument("dimension {} stands twice in the permutation", p);
    seen |= uint64_t{1} << p;
    to.append(from.has_rank() ? from[static_cast<int>(p)] : kUnknown);
  }
  c.set_output(0, to);
}

void gradient(GradContext& c) { c.set_input_grad(0, transpose(c.output_grad(), invert_permutation(c.input(1)))); }

void cpu(KernelContext& c) {
  const Shape &from = c.shape(0), &to = c.output_shape();
  Strides from_strides(from), to_strides(to);
  StridedBox box;
  for (int i = 0; i < to.rank(); ++i) {
    box.add(to.dims()[static_cast<size_t>(i)], to_strides[i], from_strides[static_cast<int>(int_at(c, 1, i))]);
  }
  copy_box(c.dtype(0), box, c.raw_output(), c.raw_input(0), c.pool());
}

void conjugate_gradient(GradContext& c) {
  c.set_input_grad(
      0, NodeBuilder("ConjugateTranspose").input(c.output_grad()).input(invert_permutation(c.input(1))).output());
}

template <class T>
void conjugate(KernelContext& c) {
  auto* y = c.output<std::complex<T>>();
  c.pool().parallel_for(c.output_elements(), 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = std::conj(y[i]);
  });
}

void conjugate_cpu(KernelContext& c) {
  cpu(c);
  if (c.dtype(0) == DType::Complex64) conjugate<float>(c);
  if (c.dtype(0) == DType::Complex128) conjugate<double>(c);
}

}  // namespace

OpDef conjugate_transpose_op() {
  OpDef row = transpose_op();
  row.name = "ConjugateTranspose";
  row.gradient = conjugate_gradient;
  row.cpu = {.select = kernel_moving<conjugate_cpu>};
  row.source = Source::Other;
  return row;
}

OpDef transpose_op() {
  return {.name = "Transpose",
          .inputs = "x:T; perm:Tperm",
          .outputs = "y:T",
          .attrs = "T:type; Tperm:type{int32,int64}=int32",
          .host = "perm",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>},
          .source = Source::Permute};
}

}  // namespace weir::ops

namespace weir {

Output transpose(const In& x, const In& perm, std::string_view name) {
  return NodeBuilder("Transpose", ops::name_or(name, "transpose")).input(x).input(perm).output();
}

Output transpose(const In& x) {
  Graph& graph = ops::graph_of({&x});
  LineScope line(graph, source_line(x.where()));
  Scope scope = graph.name_scope("transpose");
  int rank = x.output().shape().rank();
  if (rank > 0) {
    std::vector<int32_t> perm;
    for (int i = rank - 1; i >= 0; --i) perm.push_back(i);
    return transpose(x, perm, scope.name());
  }
  Output r = NodeBuilder("Rank").input(x).output();
  Output last = r - 1;
  Output ascending = NodeBuilder("Range").input(0).input(r).input(1).output();
  return transpose(x, last - ascending, scope.name());
}

}  // namespace weir

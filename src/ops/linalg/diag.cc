#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/element_type.h"
#include "ops/array/strided_copy.h"
#include "ops/types.h"
#include "weir/linalg_ops.h"

namespace weir::ops {
namespace {

constexpr std::string_view kTypes = "T:type{bfloat16,half,float,double,int32,int64,complex64,complex128}";

void infer_diag(InferContext& c) {
  const Shape& x = c.input(0);
  if (!x.has_rank()) return;
  if (x.rank() < 1) c.fail("Shape must be at least rank 1 but is rank 0");
  Shape to = x;
  for (int64_t size : x.dims()) to.append(size);
  c.set_output(0, to);
}

void infer_part(InferContext& c) {
  const Shape& x = c.input(0);
  if (!x.has_rank()) return;
  if (x.rank() < 2 || x.rank() % 2 != 0) c.fail("the input must have an even number of dimensions: " + x.str());
  const size_t half = static_cast<size_t>(x.rank() / 2);
  c.set_output(0, Shape(x.dims().first(half)).merged(Shape(x.dims().last(half))));
}

// Element i of n becomes element i * (n + 1) of n * n.
void diag_cpu(KernelContext& c) {
  const int64_t n = c.elements(0);
  zero_elements(c.dtype(0), c.raw_output(), c.output_elements(), c.pool());
  with_element_type(c.dtype(0), [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) c.output<T>()[i * (n + 1)] = c.input<T>(0)[i];
  });
}

void part_cpu(KernelContext& c) {
  const int64_t n = c.output_elements();
  with_element_type(c.dtype(0), [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) c.output<T>()[i] = c.input<T>(0)[i * (n + 1)];
  });
}

void diag_gradient(GradContext& c) { c.set_input_grad(0, diag_part(c.output_grad())); }
void part_gradient(GradContext& c) { c.set_input_grad(0, diag(c.output_grad())); }

}  // namespace

OpDef diag_op() {
  return {.name = "Diag",
          .inputs = "diagonal:T",
          .outputs = "output:T",
          .attrs = kTypes,
          .infer = infer_diag,
          .gradient = diag_gradient,
          .cpu = {.select = kernel_any<diag_cpu>}};
}

OpDef diag_part_op() {
  return {.name = "DiagPart",
          .inputs = "input:T",
          .outputs = "diagonal:T",
          .attrs = kTypes,
          .infer = infer_part,
          .gradient = part_gradient,
          .cpu = {.select = kernel_any<part_cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output diag(const In& diagonal, std::string_view name) { return NodeBuilder("Diag", name).input(diagonal).output(); }
Output diag_part(const In& input, std::string_view name) { return NodeBuilder("DiagPart", name).input(input).output(); }

}  // namespace weir

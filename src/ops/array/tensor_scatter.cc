#include "graph/grad_context.h"
#include "ops/array/element_type.h"
#include "ops/array/nd_update.h"
#include "weir/index_ops.h"
#include "weir/ops.h"

// A tensor with slices at coordinates set, or added to.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(1, 1);
  check_nd_updates(c.input(0), c.input(1), c.input(2));
  c.set_output(0, c.input(0));
}

template <class T>
void copy_whole(KernelContext& c) {
  if (c.raw_output() != c.raw_input(0)) std::copy_n(c.input<T>(0), c.elements(0), c.output<T>());
}

// Elements are moved without being looked at: one function for all types of a size.
void set(KernelContext& c) {
  with_element_type(c.dtype(0), [&]<class T>(T) {
    copy_whole<T>(c);
    const NdIndex index(c, 1, c.shape(0));
    if (c.elements(2) == 0) return;
    for (int64_t row = 0; row < index.rows; ++row) {
      std::copy_n(c.input<T>(2) + row * index.slice, index.slice, c.output<T>() + index.slice_start(row));
    }
  });
}

template <NdUpdate kHow>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    copy_whole<T>(c);
    update_slices<kHow, T>(c, 1, 2, c.shape(0), c.output<T>());
  }
};

void set_gradient(GradContext& c) {
  Output grad = c.output_grad(), indices = c.input(1);
  c.set_input_grad(0, tensor_scatter_update(grad, indices, zeros_like(c.input(2))));
  c.set_input_grad(2, gather_nd(grad, indices));
}
void add_gradient(GradContext& c) {
  c.set_input_grad(0, c.output_grad());
  c.set_input_grad(2, gather_nd(c.output_grad(), c.input(1)));
}
void sub_gradient(GradContext& c) {
  c.set_input_grad(0, c.output_grad());
  c.set_input_grad(2, -gather_nd(c.output_grad(), c.input(1)));
}

OpDef row(std::string_view name, void (*gradient)(GradContext&), Kernel cpu) {
  return {.name = name,
          .inputs = "tensor:T; indices:Tindices; updates:T",
          .outputs = "output:T",
          .attrs = "T:type; Tindices:type{int32,int64}",
          .infer = infer,
          .gradient = gradient,
          .cpu = cpu};
}

}  // namespace

OpDef tensor_scatter_update_op() {
  return row("TensorScatterUpdate", set_gradient, {.select = kernel_moving<set>, .in_place = 0b1});
}
OpDef tensor_scatter_add_op() {
  return row("TensorScatterAdd", add_gradient,
             {.select = kernel_for<NumberTypes, Cpu<NdUpdate::Add>>, .in_place = 0b1});
}
OpDef tensor_scatter_sub_op() {
  return row("TensorScatterSub", sub_gradient,
             {.select = kernel_for<NumberTypes, Cpu<NdUpdate::Sub>>, .in_place = 0b1});
}
OpDef scatter_nd_non_aliasing_add_op() {
  OpDef def = row("ScatterNdNonAliasingAdd", add_gradient,
                  {.select = kernel_for<NumberTypes, Cpu<NdUpdate::Add>>, .in_place = 0b1});
  def.inputs = "input:T; indices:Tindices; updates:T";
  def.attrs =
      "T:type{float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,uint16,complex128,half,"
      "uint32,uint64,bool}; Tindices:type{int32,int64}";
  return def;
}

}  // namespace weir::ops

namespace weir {

Output tensor_scatter_update(const In& tensor, const In& indices, const In& updates, std::string_view name) {
  return NodeBuilder("TensorScatterUpdate", name).input(tensor).input(indices).input(updates).output();
}
Output tensor_scatter_add(const In& tensor, const In& indices, const In& updates, std::string_view name) {
  return NodeBuilder("TensorScatterAdd", name).input(tensor).input(indices).input(updates).output();
}
Output tensor_scatter_sub(const In& tensor, const In& indices, const In& updates, std::string_view name) {
  return NodeBuilder("TensorScatterSub", name).input(tensor).input(indices).input(updates).output();
}

}  // namespace weir

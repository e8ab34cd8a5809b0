#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/nd_update.h"
#include "ops/state/update.h"
#include "ops/types.h"

// Slices of variables at coordinates.
namespace weir::ops {
namespace {

void infer_ref(InferContext& c) {
  c.require_min_rank(1, 1);
  check_nd_updates(c.input(0), c.input(1), c.input(2));
  c.set_output(0, c.input(0));
}

void infer_resource(InferContext& c) {
  c.require_scalar(0);
  c.require_min_rank(1, 1);
  check_nd_updates(c.handle_shape(0), c.input(1), c.input(2));
}

template <NdUpdate kHow>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const UpdateMode mode = c.node().use_locking().value_or(false) ? UpdateMode::InPlace : UpdateMode::Unlocked;
    variable_of(c, 0, dtype_of<T>)
        .update(
            [&](Tensor& value) {
              check_nd_updates(value.shape(), c.shape(1), c.shape(2));
              [[maybe_unused]] RacingWrites racing;
              update_slices<kHow, T>(c, 1, 2, value.shape(), value.mutable_data<T>());
            },
            mode);
    if (c.outputs() > 0) c.forward_ref(0, 0);
  }
};

OpDef ref_row(std::string_view name, std::string_view attrs, Kernel cpu) {
  return {.name = name,
          .inputs = "ref:Ref(T); indices:Tindices; updates:T",
          .outputs = "output_ref:Ref(T)",
          .attrs = attrs,
          .infer = infer_ref,
          .gradient = not_differentiable,
          .cpu = cpu,
          .rows = Rows::Written};
}

OpDef resource_row(std::string_view name, Kernel cpu) {
  return {.name = name,
          .inputs = "ref:resource; indices:Tindices; updates:T",
          .attrs = "T:type; Tindices:type{int32,int64}; use_locking:bool=True",
          .flags = "stateful",
          .infer = infer_resource,
          .cpu = cpu,
          .rows = Rows::Written};
}

constexpr std::string_view kRefAttrs = "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";

}  // namespace

OpDef scatter_nd_add_op() {
  return ref_row("ScatterNdAdd", kRefAttrs, {.select = kernel_for<NumberTypes, Cpu<NdUpdate::Add>>});
}
OpDef scatter_nd_sub_op() {
  return ref_row("ScatterNdSub", kRefAttrs, {.select = kernel_for<NumberTypes, Cpu<NdUpdate::Sub>>});
}
OpDef scatter_nd_update_op() {
  return ref_row("ScatterNdUpdate", "T:type; Tindices:type{int32,int64}; use_locking:bool=True",
                 {.select = kernel_for<AllTypes, Cpu<NdUpdate::Set>>});
}
OpDef resource_scatter_nd_add_op() {
  return resource_row("ResourceScatterNdAdd", {.select = kernel_for<NumberTypes, Cpu<NdUpdate::Add>>});
}
OpDef resource_scatter_nd_sub_op() {
  return resource_row("ResourceScatterNdSub", {.select = kernel_for<NumberTypes, Cpu<NdUpdate::Sub>>});
}
OpDef resource_scatter_nd_update_op() {
  return resource_row("ResourceScatterNdUpdate", {.select = kernel_for<AllTypes, Cpu<NdUpdate::Set>>});
}

}  // namespace weir::ops

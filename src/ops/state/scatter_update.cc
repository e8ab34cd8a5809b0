#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/state/update.h"
#include "ops/types.h"
#include "weir/state_ops.h"

namespace weir::ops {
namespace {

// `updates` has the shape of the indices followed by that of a row, or is a scalar for all elements.
void infer_ref(InferContext& c) {
  c.require_min_rank(0, 1);
  const bool one = c.input(2).has_rank() && c.input(2).rank() == 0;
  if (!one && c.input(0).has_rank() && c.input(1).has_rank()) {
    Shape wanted = c.input(1);
    for (int d = 1; d < c.input(0).rank(); ++d) wanted.append(c.input(0)[d]);
    if (!wanted.compatible(c.input(2))) {
      throw invalid_argument(
          "updates of shape {} are wanted for a variable of shape {} and indices of shape {}; got {}", wanted.str(),
          c.input(0).str(), c.input(1).str(), c.input(2).str());
    }
  }
  c.set_output(0, c.input(0));
}

void infer_resource(InferContext& c) { c.require_scalar(0); }

enum class How { Add, Sub, Mul, Div, Min, Max, Update };

template <How kHow>
struct Cpu {
  template <class W>
  static W combined(W now, W by) {
    if constexpr (kHow == How::Add) return wrapping_add(now, by);
    if constexpr (kHow == How::Sub) return wrapping_sub(now, by);
    if constexpr (kHow == How::Mul) return wrapping_mul(now, by);
    if constexpr (kHow == How::Div) return wrapping_div(now, by);
    if constexpr (kHow == How::Min) return std::min(now, by);
    if constexpr (kHow == How::Max) return std::max(now, by);
  }
  template <class T>
  static void run(KernelContext& c) {
    if constexpr (kHow == How::Div && kIsInteger<T>) {  // before anything is written
      const T* updates = c.input<T>(2);
      if (std::find(updates, updates + c.elements(2), T(0)) != updates + c.elements(2)) {
        throw invalid_argument("Integer division by zero");
      }
    }
    const bool one = c.shape(2).rank() == 0;
    update_typed_rows<T, 1>(c, 2, 1, [one](const auto& rows, const T* updates, int64_t n) {
      T* row = rows[0];
      if constexpr (kHow == How::Update) {
        if (one) {
          std::fill_n(row, n, *updates);
        } else {
          std::copy_n(updates, n, row);
        }
      } else {
        const int64_t step = one ? 0 : 1;
        for (int64_t i = 0; i < n; ++i) {
          row[i] = static_cast<T>(combined(static_cast<Wide<T>>(row[i]), static_cast<Wide<T>>(updates[i * step])));
        }
      }
    });
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

OpDef resource_row(std::string_view name, std::string_view attrs, Kernel cpu) {
  return {.name = name,
          .inputs = "resource:resource; indices:Tindices; updates:dtype",
          .attrs = attrs,
          .flags = "stateful",
          .infer = infer_resource,
          .cpu = cpu,
          .rows = Rows::Written};
}

constexpr std::string_view kRefAttrs = "T:numbertype; Tindices:type{int32,int64}; use_locking:bool=False";
constexpr std::string_view kExtremumAttrs =
    "T:type{half,bfloat16,float,double,int32,int64}; Tindices:type{int32,int64}; use_locking:bool=False";
using ExtremumTypes = decltype(FloatTypes{} + Types<int32_t, int64_t>{});
constexpr std::string_view kResourceAttrs = "dtype:numbertype; Tindices:type{int32,int64}";

}  // namespace

OpDef scatter_add_op() { return ref_row("ScatterAdd", kRefAttrs, {.select = kernel_for<NumberTypes, Cpu<How::Add>>}); }
OpDef scatter_sub_op() { return ref_row("ScatterSub", kRefAttrs, {.select = kernel_for<NumberTypes, Cpu<How::Sub>>}); }
OpDef scatter_mul_op() { return ref_row("ScatterMul", kRefAttrs, {.select = kernel_for<NumberTypes, Cpu<How::Mul>>}); }
OpDef scatter_div_op() { return ref_row("ScatterDiv", kRefAttrs, {.select = kernel_for<NumberTypes, Cpu<How::Div>>}); }
OpDef scatter_min_op() {
  return ref_row("ScatterMin", kExtremumAttrs, {.select = kernel_for<ExtremumTypes, Cpu<How::Min>>});
}
OpDef scatter_max_op() {
  return ref_row("ScatterMax", kExtremumAttrs, {.select = kernel_for<ExtremumTypes, Cpu<How::Max>>});
}
OpDef scatter_update_op() {
  return ref_row("ScatterUpdate", "T:type; Tindices:type{int32,int64}; use_locking:bool=True",
                 {.select = kernel_for<AllTypes, Cpu<How::Update>>});
}
OpDef resource_scatter_add_op() {
  return resource_row("ResourceScatterAdd", kResourceAttrs,
                      {.select = kernel_for<NumberTypes, Cpu<How::Add>, AttrDtype>});
}
OpDef resource_scatter_sub_op() {
  return resource_row("ResourceScatterSub", kResourceAttrs,
                      {.select = kernel_for<NumberTypes, Cpu<How::Sub>, AttrDtype>});
}
OpDef resource_scatter_mul_op() {
  return resource_row("ResourceScatterMul", kResourceAttrs,
                      {.select = kernel_for<NumberTypes, Cpu<How::Mul>, AttrDtype>});
}
OpDef resource_scatter_div_op() {
  return resource_row("ResourceScatterDiv", kResourceAttrs,
                      {.select = kernel_for<NumberTypes, Cpu<How::Div>, AttrDtype>});
}
OpDef resource_scatter_min_op() {
  return resource_row("ResourceScatterMin", kResourceAttrs,
                      {.select = kernel_for<RealTypes, Cpu<How::Min>, AttrDtype>});
}
OpDef resource_scatter_max_op() {
  return resource_row("ResourceScatterMax", kResourceAttrs,
                      {.select = kernel_for<RealTypes, Cpu<How::Max>, AttrDtype>});
}
OpDef resource_scatter_update_op() {
  return resource_row("ResourceScatterUpdate", "dtype:type; Tindices:type{int32,int64}",
                      {.select = kernel_for<AllTypes, Cpu<How::Update>, AttrDtype>});
}

}  // namespace weir::ops

namespace weir {
namespace {

Output scatter(std::string_view op, const Variable& variable, const In& indices, const In& updates,
               const UpdateOptions& options, std::string_view name) {
  if (!variable.is_resource()) {
    NodeBuilder node(op, name, updates.where());
    if (options.use_locking) node.attr("use_locking", *options.use_locking);
    return node.input(variable.handle()).input(indices).input(updates).output();
  }
  Operation write = NodeBuilder("Resource" + std::string(op), name, updates.where())
                        .input(variable.handle())
                        .input(indices)
                        .input(updates)
                        .attr("dtype", variable.dtype())
                        .build();
  auto after = variable.graph().control_dependencies({write});
  return read_variable(variable);
}

}  // namespace

Output scatter_add(const Variable& variable, const In& indices, const In& updates, std::string_view name,
                   const UpdateOptions& options) {
  return scatter("ScatterAdd", variable, indices, updates, options, name);
}
Output scatter_sub(const Variable& variable, const In& indices, const In& updates, std::string_view name,
                   const UpdateOptions& options) {
  return scatter("ScatterSub", variable, indices, updates, options, name);
}
Output scatter_update(const Variable& variable, const In& indices, const In& updates, std::string_view name,
                      const UpdateOptions& options) {
  return scatter("ScatterUpdate", variable, indices, updates, options, name);
}

}  // namespace weir

#include <string>

#include "devices/cpu/tile.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/broadcast.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, Shape::broadcast(c.input(0), Shape::broadcast(c.input(1), c.input(2)))); }

BroadcastPlan prepare(PrepareContext& c) {
  const Shape* shapes[] = {&c.input(0), &c.input(1), &c.input(2)};
  return BroadcastPlan(shapes, c.output());
}

// Numbers of 1, 2, 4 or 8 bytes: chosen without looking at them.
template <class T>
constexpr bool is_plain = std::is_trivially_copyable_v<T> && (sizeof(T) & (sizeof(T) - 1)) == 0 && sizeof(T) <= 8;

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& plan = c.state<BroadcastPlan>();
    const bool* condition = c.input<bool>(0);
    const T* t = c.input<T>(1);
    const T* e = c.input<T>(2);
    T* y = c.output<T>();
    const int64_t dc = plan.moves(0), dt = plan.moves(1), de = plan.moves(2);
    c.pool().parallel_for(plan.elements(), 16384, [&](int64_t begin, int64_t end) {
      plan.for_each_piece(begin, end, [&](const int64_t* at, int64_t to, int64_t n) {
        const bool* pc = condition + at[0];
        const T *pt = t + at[1], *pe = e + at[2];
        if constexpr (is_plain<T>) {
          if (dc == 1 && (dt == 1 || de == 1)) {
            const cpu::Operands kind = dt == 0 ? cpu::Operands::SV : de == 0 ? cpu::Operands::VS : cpu::Operands::VV;
            return cpu::select_bytes(sizeof(T), kind)(reinterpret_cast<const uint8_t*>(pc), pt, pe, y + to, n);
          }
        }
        for (int64_t i = 0; i < n; ++i) y[to + i] = pc[i * dc] ? pt[i * dt] : pe[i * de];
      });
    });
  }
};

void gradient(GradContext& c) {
  Output condition = c.input(0), dy = c.output_grad();
  Output zero = zeros(c.graph(), Shape{}, dy.dtype());
  c.set_input_grad(1, reduce_to_shape_of(where_v2(condition, dy, zero), c.input(1)));
  c.set_input_grad(2, reduce_to_shape_of(where_v2(condition, zero, dy), c.input(2)));
}

}  // namespace

OpDef select_v2_op() {
  return {.name = "SelectV2",
          .inputs = "condition:bool; t:T; e:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<AllTypes, Cpu>, .prepare = prepared<prepare>, .in_place = 0b110}};
}

}  // namespace weir::ops

namespace weir {

Output where_v2(const In& condition, const In& x, const In& y, std::string_view name) {
  return NodeBuilder("SelectV2", name).input(condition).input(x).input(y).output();
}

}  // namespace weir

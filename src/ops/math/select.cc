#include <string>

#include "devices/cpu/tile.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// The condition chooses everything (a scalar), rows (a vector), or elements (of the branches' shape).
void infer(InferContext& c) {
  const Shape& condition = c.input(0);
  Shape branches = c.input(1).merged(c.input(2));
  if (condition.has_rank() && branches.has_rank() && condition.rank() > 0) {
    if (condition.rank() == 1 && branches.rank() > 1) {
      Shape rows = branches;
      rows.set_dim(0, Shape{branches[0]}.merged(condition)[0]);
      branches = rows;
    } else {
      branches = branches.merged(condition);
    }
  }
  c.set_output(0, std::move(branches));
}

// Numbers of 1, 2, 4 or 8 bytes: chosen without looking at them.
template <class T>
constexpr bool is_plain = std::is_trivially_copyable_v<T> && (sizeof(T) & (sizeof(T) - 1)) == 0 && sizeof(T) <= 8;

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const bool* condition = c.input<bool>(0);
    const T* t = c.input<T>(1);
    const T* e = c.input<T>(2);
    T* y = c.output<T>();
    const int64_t n = c.output_elements(), conditions = c.elements(0);
    if (n == 0) return;
    if (conditions == n) {
      c.pool().parallel_for(n, 16384, [&](int64_t begin, int64_t end) {
        if constexpr (is_plain<T>) {
          const auto select = cpu::select_bytes(sizeof(T), cpu::Operands::VV);
          return select(reinterpret_cast<const uint8_t*>(condition) + begin, t + begin, e + begin, y + begin,
                        end - begin);
        }
        for (int64_t i = begin; i < end; ++i) y[i] = condition[i] ? t[i] : e[i];
      });
      return;
    }
    // Elements in a run share a condition. A run that stays in place needs no copy.
    const int64_t run = n / conditions;
    c.pool().parallel_for(n, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t last = std::min(end, (i / run + 1) * run);
        const T* from = condition[i / run] ? t : e;
        if (from != y) std::copy(from + i, from + last, y + i);
        i = last;
      }
    });
  }
};

void gradient(GradContext& c) {
  Output condition = c.input(0), dy = c.output_grad(), zeros = zeros_like(c.input(1));
  c.set_input_grad(1, where(condition, dy, zeros));
  c.set_input_grad(2, where(condition, zeros, dy));
}

}  // namespace

OpDef select_op() {
  return {.name = "Select",
          .inputs = "condition:bool; t:T; e:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<AllTypes, Cpu>, .in_place = 0b110},
          .elementwise = ElementwiseBody::Kind::Select};
}

}  // namespace weir::ops

namespace weir {

Output where(const In& condition, const In& x, const In& y, std::string_view name) {
  return NodeBuilder("Select", name).input(condition).input(x).input(y).output();
}

}  // namespace weir

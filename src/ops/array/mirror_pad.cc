#include <algorithm>
#include <optional>

#include "base/errors.h"
#include "devices/cpu/tile.h"
#include "graph/grad_context.h"
#include "graph/run_check.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/paddings.h"
#include "ops/array/strided_copy.h"
#include "ops/math/functors.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

constexpr std::string_view kAttrs = "T:type; Tpaddings:type{int32,int64}=int32; mode:string{REFLECT,SYMMETRIC}";

int64_t border(const AttrMap& attrs) { return attrs.get<std::string>("mode") == "SYMMETRIC" ? 0 : 1; }

// `grad`: the input is the padded tensor and the output the bare one.
void infer(InferContext& c, bool grad) {
  c.require_rank(1, 2);
  const Shape& x = c.input(0);
  require_paddings(c);
  if (!x.has_rank()) return;
  Tensor paddings = c.value(1);
  if (!paddings.valid()) return c.set_output(0, Shape::unknown_dims(x.rank()));
  Shape to = x;
  std::optional<RunCheck> failure;
  for (int i = 0; i < x.rank(); ++i) {
    auto at = [&](int j) {
      const auto k = static_cast<size_t>(2 * i + j);
      return paddings.dtype() == DType::Int32 ? int64_t{paddings.data<int32_t>()[k]} : paddings.data<int64_t>()[k];
    };
    if (x[i] == kUnknown) continue;
    for (int j : {0, 1}) {
      if (at(j) < 0) throw invalid_argument("padding {} of dimension {} is negative", at(j), i);
    }
    const int64_t padding = checked_add(at(0), at(1)), bare = grad ? x[i] - padding : x[i];
    for (int j : {0, 1}) {
      if (at(j) > bare - border(c.attrs())) {
        failure = run_check("padding {} of dimension {}, which has {} elements, is not in [0, {}]", at(j), i, bare,
                            bare - border(c.attrs()));
      }
    }
    to.set_dim(i, grad ? bare : checked_add(x[i], padding));
  }
  c.set_output(0, to);
  if (failure) throw *failure;
}
void infer_pad(InferContext& c) { infer(c, false); }
void infer_grad(InferContext& c) { infer(c, true); }

struct State {
  int64_t border;
};

State prepare(PrepareContext& c) { return {border(c.node().attrs())}; }

// The padded tensor as lines along the last dimension that has a padding, made of pieces: all elements of the
// dimensions behind it, which lie side by side in both tensors.
class Lines {
 public:
  Lines(const KernelContext& c, const Shape& padded, const Shape& bare, int64_t border)
      : padded_(padded), bare_(bare), border_(border), strides_(bare) {
    for (int d = 0; d < padded.rank(); ++d) {
      before_[d] = int_at(c, 1, 2 * d);
      if (padded[d] == bare[d]) continue;
      last_ = d;
      first_ = std::min(first_, d);
    }
    for (int d = last_ + 1; d < padded.rank(); ++d) piece_ *= padded[d];
    for (int d = 0; d < last_; ++d) lines_ *= padded[d];
    for (int d = 0; d < std::min(first_, last_); ++d) parts_ *= padded[d];
  }

  int64_t count() const { return lines_; }
  int64_t parts() const { return parts_; }  // of the lines, in equal numbers, which meet no element of each other's
  int64_t piece() const { return piece_; }
  int64_t length() const { return padded_.rank() == 0 ? 1 : padded_[last_]; }  // in pieces

  // Calls body(from, to, pieces) for line number `line`: pieces of the padded tensor from element `from` on, and where
  // as many lie in the bare one.
  template <class Body>
  void cut(int64_t line, const Body& body) const {
    int64_t to = 0, from = line * length() * piece_;
    if (padded_.rank() == 0) return body(from, to, 1);
    for (int d = last_ - 1; d >= 0; --d) {
      to += mirrored(line % padded_[d], d) * strides_[d];
      line /= padded_[d];
    }
    const int64_t begin = before_[last_], end = begin + bare_[last_];
    for (int64_t i = 0; i < begin; ++i, from += piece_) body(from, to + mirrored(i, last_) * piece_, 1);
    body(from, to, bare_[last_]);
    from += bare_[last_] * piece_;
    for (int64_t i = end; i < padded_[last_]; ++i, from += piece_) body(from, to + mirrored(i, last_) * piece_, 1);
  }

 private:
  int64_t mirrored(int64_t at, int d) const {
    int64_t x = at - before_[d];
    if (x < 0) x = -x - 1 + border_;
    return x < bare_[d] ? x : 2 * bare_[d] - 1 - border_ - x;
  }

  const Shape& padded_;
  const Shape& bare_;
  const int64_t border_;
  const Strides strides_;
  int64_t before_[kMaxRank];
  int first_ = kMaxRank, last_ = 0;
  int64_t piece_ = 1, lines_ = 1, parts_ = 1;
};

void pad_cpu(KernelContext& c) {
  with_element_type(c.dtype(0), [&]<class T>(T) {
    if (c.output_elements() == 0) return;
    const Lines lines(c, c.output_shape(), c.shape(0), c.state<State>().border);
    const T* bare = c.input<T>(0);
    T* padded = c.output<T>();
    const int64_t grain = std::max<int64_t>(1, 16384 / (lines.length() * lines.piece()));
    c.pool().parallel_for(lines.count(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        lines.cut(line, [&](int64_t to, int64_t from, int64_t pieces) {
          std::copy_n(bare + from, pieces * lines.piece(), padded + to);
        });
      }
    });
  });
}

struct GradCpu {
  template <class T>
  static void run(KernelContext& c) {
    zero_elements(dtype_of<T>, c.raw_output(), c.output_elements(), c.pool());
    if (c.elements(0) == 0) return;
    const Lines lines(c, c.shape(0), c.output_shape(), c.state<State>().border);
    const T* padded = c.input<T>(0);
    T* bare = c.output<T>();
    const int64_t each = lines.count() / lines.parts();
    c.pool().parallel_for(lines.parts(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin * each; line < end * each; ++line) {
        lines.cut(line, [&](int64_t from, int64_t to, int64_t pieces) {
          add(padded + from, bare + to, pieces * lines.piece());
        });
      }
    });
  }

 private:
  template <class T>
  static void add(const T* from, T* to, int64_t n) {
    if constexpr (std::is_same_v<T, float>) {
      cpu::binary_tile(cpu::BinaryFn::Add, cpu::Operands::VV)(to, from, to, n);
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(wrapping_add(Wide<T>(to[i]), Wide<T>(from[i])));
    }
  }
};

Output with_mode(const GradContext& c, std::string_view op) {
  return NodeBuilder(op).input(c.output_grad()).input(c.input(1)).attr("mode", c.attr<std::string>("mode")).output();
}
void pad_gradient(GradContext& c) { c.set_input_grad(0, with_mode(c, "MirrorPadGrad")); }
void grad_gradient(GradContext& c) { c.set_input_grad(0, with_mode(c, "MirrorPad")); }

}  // namespace

OpDef mirror_pad_op() {
  return {.name = "MirrorPad",
          .inputs = "input:T; paddings:Tpaddings",
          .outputs = "output:T",
          .attrs = kAttrs,
          .host = "paddings",
          .infer = infer_pad,
          .gradient = pad_gradient,
          .cpu = {.select = kernel_moving<pad_cpu>, .prepare = prepared<prepare>}};
}

OpDef mirror_pad_grad_op() {
  return {.name = "MirrorPadGrad",
          .inputs = "input:T; paddings:Tpaddings",
          .outputs = "output:T",
          .attrs = kAttrs,
          .host = "paddings",
          .infer = infer_grad,
          .gradient = grad_gradient,
          .cpu = {.select = kernel_for<NumberTypes, GradCpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output mirror_pad(const In& tensor, const In& paddings, MirrorMode mode, std::string_view name) {
  return NodeBuilder("MirrorPad", name)
      .input(tensor)
      .input(paddings)
      .attr("mode", std::string(mode == MirrorMode::Reflect ? "REFLECT" : "SYMMETRIC"))
      .output();
}

}  // namespace weir

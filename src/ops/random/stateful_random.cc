#include <random>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/random/stream_variable.h"
#include "ops/state/update.h"

// Random numbers whose generator is a variable: what tf.random.Generator is made of.
namespace weir::ops {
namespace {

constexpr int64_t kPhilox = 1, kStateSize = 3;

void require_scalar_input(const InferContext& c, int input) {
  if (c.input(input).has_rank() && c.input(input).rank() != 0) {
    throw invalid_argument("input {} (0-based) must have shape [], not {}", input, c.input(input).str());
  }
}

template <int kShape>
void infer(InferContext& c) {
  if (kShape == 2) require_scalar_input(c, 1);
  c.set_output(0, shape_argument(c, kShape));
}

void infer_int(InferContext& c) {
  infer<2>(c);
  for (int input : {3, 4}) {
    if (c.input(input).has_rank() && c.input(input).rank() != 0) {
      throw invalid_argument("{} must be 0-D, got shape {}", input == 3 ? "minval" : "maxval", c.input(input).str());
    }
  }
}

void infer_skip(InferContext& c) {
  require_scalar_input(c, 1);
  require_scalar_input(c, 2);
}

cpu::Philox stream_of(KernelContext& c, bool tagged) {
  return take_stream(c, tagged ? kPhilox : c.scalar<int64_t>(1), c.output_elements(), tagged);
}

template <bool kTagged>
struct Normal {
  template <class T>
  static void run(KernelContext& c) {
    cpu::fill_normal(stream_of(c, kTagged), c.output<T>(), c.output_elements(), c.pool());
  }
};
struct Uniform {
  template <class T>
  static void run(KernelContext& c) {
    cpu::fill_uniform(stream_of(c, false), c.output<T>(), c.output_elements(), c.pool());
  }
};
struct TruncatedNormal {
  template <class T>
  static void run(KernelContext& c) {
    cpu::fill_truncated_normal(stream_of(c, false), c.output<T>(), c.output_elements(), c.pool());
  }
};
struct UniformInt {
  template <class T>
  static void run(KernelContext& c) {
    const T low = c.scalar<T>(3), high = c.scalar<T>(4);
    if (low >= high) throw invalid_argument("Need minval < maxval, got {} >= {}", low, high);
    cpu::fill_uniform_int(stream_of(c, false), low, high, c.output<T>(), c.output_elements(), c.pool());
  }
};

// Words as they come.
struct FullInt {
  template <class T>
  static void run(KernelContext& c) {
    const cpu::Philox start = stream_of(c, false);
    constexpr int64_t kGroup = 16 / sizeof(T);
    const int64_t n = c.output_elements();
    T* y = c.output<T>();
    c.pool().parallel_for((n + kGroup - 1) / kGroup, 1024, [&](int64_t begin, int64_t end) {
      cpu::Philox stream = start;
      stream.skip(static_cast<uint64_t>(begin));
      for (int64_t group = begin; group < end; ++group) {
        uint32_t words[4];
        stream.next(words, 1);
        for (int64_t i = 0; i < kGroup && group * kGroup + i < n; ++i) {
          uint64_t bits = sizeof(T) == 4 ? words[i] : static_cast<uint64_t>(words[2 * i + 1]) << 32 | words[2 * i];
          y[group * kGroup + i] = static_cast<T>(bits);
        }
      }
    });
  }
};

struct Nondeterministic {
  template <class T>
  static void run(KernelContext& c) {
    std::random_device device;
    for (int64_t i = 0; i < c.output_elements(); ++i) {
      c.output<T>()[i] = static_cast<T>(static_cast<uint64_t>(device()) << 32 | device());
    }
  }
};

void skip_cpu(KernelContext& c) { take_stream(c, c.scalar<int64_t>(1), c.scalar<int64_t>(2)); }

struct Spec {
  std::string_view name, inputs, attrs, host, flags = "stateful";
};
OpDef row(const Spec& spec, void (*infer_fn)(InferContext&), ComputeFn (*select)(const NodeView&)) {
  return {.name = spec.name,
          .inputs = spec.inputs,
          .outputs = "output:dtype",
          .attrs = spec.attrs,
          .flags = spec.flags,
          .host = spec.host,
          .infer = infer_fn,
          .gradient = not_differentiable,
          .cpu = {.select = select}};
}

constexpr std::string_view kInputs = "resource:resource; algorithm:int64; shape:shape_dtype";
constexpr std::string_view kFloatAttrs = "dtype:type=float; shape_dtype:type=int64";

template <class Fill>
OpDef float_row(std::string_view name) {
  return row({.name = name, .inputs = kInputs, .attrs = kFloatAttrs, .host = "algorithm, shape"}, infer<2>,
             kernel_for<FloatTypes, Fill, AttrDtype>);
}

}  // namespace

cpu::Philox take_stream(const KernelContext& c, int64_t algorithm, int64_t outputs, bool tagged) {
  VariableState& variable = c.variable(0);
  if (variable.dtype() != DType::Int64) {
    throw invalid_argument("dtype of RNG state variable must be int64, not {}", dtype_name(variable.dtype()));
  }
  cpu::Philox stream(0, 0);
  variable.update([&](Tensor& state) {
    if (state.shape().rank() != 1) {
      throw invalid_argument("RNG state must have one and only one dimension, not {}", state.shape().rank());
    }
    const int64_t first = tagged ? 1 : 0;
    if (tagged && state.elements() < 1) throw invalid_argument("Size of tensor must be at least 1");
    auto* numbers = state.mutable_data<int64_t>();
    const int64_t used = tagged ? numbers[0] : algorithm;
    if (used != kPhilox) throw invalid_argument("Unsupported algorithm id: {}", used);
    if (state.elements() < first + kStateSize) {
      throw invalid_argument("For the Philox algorithm, the size of state must be at least {}; got {}",
                             first + kStateSize, state.elements());
    }
    numbers += first;
    stream = cpu::Philox(static_cast<uint64_t>(numbers[2]), static_cast<uint64_t>(numbers[1]));
    stream.counter_low = static_cast<uint64_t>(numbers[0]);
    cpu::Philox next = stream;
    next.skip(static_cast<uint64_t>(outputs) * 256);
    numbers[0] = static_cast<int64_t>(next.counter_low);
    numbers[1] = static_cast<int64_t>(next.counter_high);
  });
  return stream;
}

OpDef stateful_standard_normal_op() {
  return row({.name = "StatefulStandardNormal",
              .inputs = "resource:resource; shape:shape_dtype",
              .attrs = kFloatAttrs,
              .host = "shape",
              .flags = "stateful,deprecated@29"},
             infer<1>, kernel_for<FloatTypes, Normal<true>, AttrDtype>);
}
OpDef stateful_standard_normal_v2_op() { return float_row<Normal<false>>("StatefulStandardNormalV2"); }
OpDef stateful_uniform_op() { return float_row<Uniform>("StatefulUniform"); }
OpDef stateful_truncated_normal_op() { return float_row<TruncatedNormal>("StatefulTruncatedNormal"); }
OpDef stateful_uniform_int_op() {
  return row({.name = "StatefulUniformInt",
              .inputs = "resource:resource; algorithm:int64; shape:shape_dtype; minval:dtype; maxval:dtype",
              .attrs = "dtype:type=int64; shape_dtype:type=int64",
              .host = "algorithm, shape, minval, maxval"},
             infer_int, kernel_for<Types<int32_t, int64_t>, UniformInt, AttrDtype>);
}
OpDef stateful_uniform_full_int_op() {
  return row({.name = "StatefulUniformFullInt",
              .inputs = kInputs,
              .attrs = "dtype:type=uint64; shape_dtype:type=int64",
              .host = "algorithm, shape"},
             infer<2>, kernel_for<Types<int32_t, int64_t, uint32_t, uint64_t>, FullInt, AttrDtype>);
}
OpDef non_deterministic_ints_op() {
  return row(
      {.name = "NonDeterministicInts",
       .inputs = "shape:shape_dtype",
       .attrs = "dtype:type=int64; shape_dtype:type=int64",
       .host = "shape"},
      [](InferContext& c) { c.set_output(0, shape_argument(c, 0)); },
      kernel_for<Types<int32_t, int64_t, uint32_t, uint64_t>, Nondeterministic, AttrDtype>);
}
OpDef rng_skip_op() {
  return {.name = "RngSkip",
          .inputs = "resource:resource; algorithm:int64; delta:int64",
          .flags = "stateful",
          .host = "algorithm, delta",
          .infer = infer_skip,
          .cpu = {.select = kernel_any<skip_cpu>}};
}

}  // namespace weir::ops

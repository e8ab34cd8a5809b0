#include <cmath>
#include <cstring>
#include <limits>

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/math/narrow.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// Truncates. What the type cannot hold becomes what an x86 processor makes of it, here on every machine: the least
// int32 (int64 for wider types), cut to the type's bits.
template <class To, class From>
To to_integer(From x) {
  using Via = std::conditional_t<sizeof(To) < 4 || std::is_same_v<To, int32_t>, int32_t, int64_t>;
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (x >= From(9223372036854775808.0) && x < From(18446744073709551616.0)) return static_cast<To>(x);
  }
  constexpr From kLimit = sizeof(Via) == 4 ? From(2147483648.0) : From(9223372036854775808.0);
  // A double can hold fractions between the least value and the next below, which truncate to the least value.
  const bool fits = x < kLimit && (x >= -kLimit || std::trunc(x) == -kLimit);
  return static_cast<To>(fits ? static_cast<Via>(x) : std::numeric_limits<Via>::min());
}

template <class To, class From>
To convert(From x) {
  if constexpr (kIsComplex<From> && kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(x.real()), static_cast<typename To::value_type>(x.imag()));
  } else if constexpr (kIsComplex<From>) {
    return convert<To>(x.real());
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return to_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

using Run = void (*)(const void* x, void* y, int64_t n);

// A tile at a time through float, which holds half and bfloat16 exactly.
template <class From, class To>
void convert_run(const void* from, void* to, int64_t n) {
  const From* x = static_cast<const From*>(from);
  To* y = static_cast<To*>(to);
  if constexpr (std::is_same_v<From, To>) {
    std::copy(x, x + n, y);
  } else if constexpr (kIsNarrowFloat<From> || kIsNarrowFloat<To>) {
    float wide[cpu::kTileFloats];
    for (int64_t i = 0; i < n; i += cpu::kTileFloats) {
      const int64_t m = std::min(cpu::kTileFloats, n - i);
      if constexpr (kIsNarrowFloat<From>) {
        widen(x + i, wide, m);
      } else {
        convert_run<From, float>(x + i, wide, m);
      }
      if constexpr (kIsNarrowFloat<To>) {
        narrow(wide, y + i, m);
      } else {
        convert_run<float, To>(wide, y + i, m);
      }
    }
  } else if constexpr (std::is_same_v<From, int32_t> && std::is_same_v<To, float>) {
    cpu::int32_to_float(x, y, n);
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, int32_t>) {
    cpu::float_to_int32(x, y, n);
  } else if constexpr (std::is_same_v<From, int64_t> && std::is_same_v<To, float>) {
    cpu::int64_to_float(x, y, n);
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, int64_t>) {
    cpu::float_to_int64(x, y, n);
  } else if constexpr (std::is_same_v<From, uint8_t> && std::is_same_v<To, float>) {
    cpu::uint8_to_float(x, y, n);
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, uint8_t>) {
    cpu::float_to_uint8(x, y, n);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = convert<To>(x[i]);
  }
}

// Clears the bits of a floating-point number that the narrower type does not have, so that converting cuts instead of
// rounding.
template <class T, class Bits>
void cut_mantissa(T* x, int64_t n, Bits mask) {
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, x + i, sizeof(bits));
    bits &= mask;
    std::memcpy(x + i, &bits, sizeof(bits));
  }
}

int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return 52;
    case DType::Float32:
      return 23;
    case DType::Float16:
      return 10;
    case DType::BFloat16:
      return 7;
    default:
      return -1;
  }
}

struct State {
  Run run;
  DType from, to;
  int cut_bits;  // of the mantissa, before converting; 0: round
};

template <class To, class... From>
Run find_from(DType from, Types<From...>) {
  Run run = nullptr;
  (void)((from == dtype_of<From> ? (run = convert_run<From, To>, true) : false) || ...);
  return run;
}
template <class... To>
Run find_run(DType from, DType to, Types<To...>) {
  Run run = nullptr;
  (void)((to == dtype_of<To> ? (run = find_from<To>(from, PodTypes{}), true) : false) || ...);
  return run;
}

State prepare(PrepareContext& c) {
  const DType from = c.node().type("SrcT"), to = c.node().type("DstT");
  State state{.run = find_run(from, to, PodTypes{}), .from = from, .to = to, .cut_bits = 0};
  if (from == string) state.run = convert_run<std::string, std::string>;
  if (c.attr<bool>("Truncate") && mantissa_bits(to) >= 0 && (from == float32 || from == float64)) {
    state.cut_bits = std::max(0, mantissa_bits(from) - mantissa_bits(to));
  }
  return state;
}

// Converts tile by tile, with the superfluous bits cleared in a copy.
void run_cut(const State& s, const std::byte* x, std::byte* y, int64_t n) {
  alignas(8) std::byte copy[cpu::kTileFloats * sizeof(double)];
  for (int64_t i = 0; i < n; i += cpu::kTileFloats) {
    const int64_t m = std::min(cpu::kTileFloats, n - i);
    const size_t size = dtype_size(s.from);
    std::memcpy(copy, x + static_cast<size_t>(i) * size, static_cast<size_t>(m) * size);
    if (s.from == float32) {
      cut_mantissa(reinterpret_cast<float*>(copy), m, ~uint32_t{0} << s.cut_bits);
    } else {
      cut_mantissa(reinterpret_cast<double*>(copy), m, ~uint64_t{0} << s.cut_bits);
    }
    s.run(copy, y + static_cast<size_t>(i) * dtype_size(s.to), m);
  }
}

void cpu_kernel(KernelContext& c) {
  const State& s = c.state<State>();
  const auto* x = static_cast<const std::byte*>(c.raw_input(0));
  auto* y = static_cast<std::byte*>(c.raw_output());
  c.pool().parallel_for(c.output_elements(), 16384, [&](int64_t begin, int64_t end) {
    const std::byte* from = x + static_cast<size_t>(begin) * dtype_size(s.from);
    std::byte* to = y + static_cast<size_t>(begin) * dtype_size(s.to);
    if (s.cut_bits > 0) {
      run_cut(s, from, to, end - begin);
    } else {
      s.run(from, to, end - begin);
    }
  });
}

ComputeFn select(const NodeView& node) {
  const DType from = node.type("SrcT"), to = node.type("DstT");
  bool known = from == string ? to == string : find_run(from, to, PodTypes{}) != nullptr;
  return known ? cpu_kernel : nullptr;
}

void gradient(GradContext& c) {
  auto continuous = [](DType dtype) { return is_floating(dtype) || is_complex(dtype); };
  DType from = c.input(0).dtype(), to = c.output(0).dtype();
  if (continuous(from) && continuous(to)) c.set_input_grad(0, cast(c.output_grad(), from));
}

}  // namespace

OpDef cast_op() {
  return {.name = "Cast",
          .inputs = "x:SrcT",
          .outputs = "y:DstT",
          .attrs = "SrcT:type; DstT:type; Truncate:bool=False",
          .infer = infer::unchanged,
          .gradient = gradient,
          .cpu = {.select = select, .prepare = prepared<prepare>},
          .elementwise = ElementwiseBody::Kind::Cast,
          .as_shape = [](InferContext& c) { return c.value_as_shape(0); }};
}

}  // namespace weir::ops

namespace weir {

Output cast(const In& x, DType dtype, std::string_view name) {
  if (x.output() && x.output().dtype() == dtype) return x.output();
  return NodeBuilder("Cast", name).input(x).attr("DstT", dtype).output();
}

}  // namespace weir

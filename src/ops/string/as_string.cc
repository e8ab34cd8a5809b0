#include <cinttypes>
#include <complex>
#include <cstdio>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

constexpr int64_t kWidest = 1 << 16;

void infer(InferContext& c) {
  const std::string& fill = c.attr<std::string>("fill");
  if (fill.size() > 1) throw invalid_argument("Fill string must be one or fewer characters: \"{}\"", fill);
  // The flags of printf: another letter would end the conversion and read or write through the number.
  if (fill.find_first_not_of(" +-0#") != std::string::npos) {
    throw invalid_argument("Fill argument not supported: \"{}\"", fill);
  }
  for (const char* name : {"width", "precision"}) {
    if (const int64_t size = c.attr<int64_t>(name); size > kWidest) {
      throw invalid_argument("{} is {}; at most {} characters are printed", name, size, kWidest);
    }
  }
  if (c.attr<bool>("scientific") && c.attr<bool>("shortest")) {
    throw invalid_argument("Cannot select both scientific and shortest notation");
  }
  infer::unchanged(c);
}

// The beginning of a printf format ("%-8.3") and the letter for floating numbers.
struct State {
  std::string head;
  char letter;
};

State prepare(PrepareContext& c) {
  const int64_t width = c.attr<int64_t>("width"), precision = c.attr<int64_t>("precision");
  const DType type = c.attr<DType>("T");
  if (!is_floating(type) && !is_complex(type)) {
    if (c.attr<bool>("scientific") || c.attr<bool>("shortest")) {
      throw invalid_argument("scientific and shortest format not supported for datatype {}", dtype_name(type));
    }
    if (precision > -1) throw invalid_argument("precision not supported for datatype {}", dtype_name(type));
  }
  std::string head = "%" + c.attr<std::string>("fill");
  if (width > -1) head += std::to_string(width);
  if (precision > -1) head += "." + std::to_string(precision);
  return {head, c.attr<bool>("shortest") ? 'g' : c.attr<bool>("scientific") ? 'e' : 'f'};
}

template <class V>
std::string print(const std::string& format, V value) {
  std::string text(32, '\0');
  for (;;) {
    const int n = std::snprintf(text.data(), text.size() + 1, format.c_str(), value);
    if (n < 0) throw invalid_argument("a number cannot be printed as {}", format);
    const bool fits = static_cast<size_t>(n) <= text.size();
    text.resize(static_cast<size_t>(n));
    if (fits) return text;
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& [head, letter] = c.state<State>();
    for (int64_t i = 0; i < c.elements(0); ++i) {
      const T& x = c.input<T>(0)[i];
      std::string& out = c.output<std::string>()[i];
      if constexpr (std::is_same_v<T, bool>) {
        out = x ? "true" : "false";
      } else if constexpr (std::is_integral_v<T>) {
        out = print(head + PRId64, static_cast<int64_t>(x));
      } else if constexpr (std::is_floating_point_v<T>) {
        out = print(head + letter, static_cast<double>(x));
      } else {
        out = "(" + print(head + letter, static_cast<double>(x.real())) + "," +
              print(head + letter, static_cast<double>(x.imag())) + ")";
      }
    }
  }
};

using PrintedTypes =
    Types<int8_t, int16_t, int32_t, int64_t, std::complex<float>, std::complex<double>, float, double, bool>;

}  // namespace

OpDef as_string_op() {
  return {.name = "AsString",
          .inputs = "input:T",
          .outputs = "output:string",
          .attrs =
              "T:type{int8,int16,int32,int64,complex64,complex128,float,double,bool}; precision:int=-1; "
              "scientific:bool=False; shortest:bool=False; width:int=-1; fill:string=''",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<PrintedTypes, Cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output as_string(const In& input, const AsStringOptions& options, std::string_view name) {
  return NodeBuilder("AsString", name)
      .input(input)
      .attr("precision", options.precision)
      .attr("scientific", options.scientific)
      .attr("shortest", options.shortest)
      .attr("width", options.width)
      .attr("fill", options.fill)
      .output();
}

}  // namespace weir

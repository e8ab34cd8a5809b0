#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// Arithmetic between outputs, variables, tensors, numbers and nested lists, at least one of which belongs to a graph.
// The smaller operand is stretched to the shape of the larger (TensorFlow's broadcasting). `==` compares handles; the
// elementwise comparison is equal().
WEIR_API Output operator+(const In& x, const In& y);
WEIR_API Output operator-(const In& x, const In& y);
WEIR_API Output operator*(const In& x, const In& y);
WEIR_API Output operator/(const In& x, const In& y);  // integers are divided as floating-point numbers, see truediv()
WEIR_API Output operator-(const In& x);
WEIR_API Output operator<(const In& x, const In& y);
WEIR_API Output operator<=(const In& x, const In& y);
WEIR_API Output operator>(const In& x, const In& y);
WEIR_API Output operator>=(const In& x, const In& y);

// Element by element, one operand.
WEIR_API Output negative(const In& x, std::string_view name = {});
WEIR_API Output abs(const In& x, std::string_view name = {});
WEIR_API Output sign(const In& x, std::string_view name = {});
WEIR_API Output square(const In& x, std::string_view name = {});
WEIR_API Output sqrt(const In& x, std::string_view name = {});
WEIR_API Output rsqrt(const In& x, std::string_view name = {});
WEIR_API Output reciprocal(const In& x, std::string_view name = {});
WEIR_API Output exp(const In& x, std::string_view name = {});
WEIR_API Output expm1(const In& x, std::string_view name = {});
WEIR_API Output log(const In& x, std::string_view name = {});
WEIR_API Output log1p(const In& x, std::string_view name = {});
WEIR_API Output tanh(const In& x, std::string_view name = {});
WEIR_API Output sigmoid(const In& x, std::string_view name = {});
WEIR_API Output sin(const In& x, std::string_view name = {});
WEIR_API Output cos(const In& x, std::string_view name = {});
WEIR_API Output tan(const In& x, std::string_view name = {});
WEIR_API Output asin(const In& x, std::string_view name = {});
WEIR_API Output acos(const In& x, std::string_view name = {});
WEIR_API Output atan(const In& x, std::string_view name = {});
WEIR_API Output sinh(const In& x, std::string_view name = {});
WEIR_API Output cosh(const In& x, std::string_view name = {});
WEIR_API Output asinh(const In& x, std::string_view name = {});
WEIR_API Output acosh(const In& x, std::string_view name = {});
WEIR_API Output atanh(const In& x, std::string_view name = {});
WEIR_API Output floor(const In& x, std::string_view name = {});
WEIR_API Output ceil(const In& x, std::string_view name = {});
WEIR_API Output round(const In& x, std::string_view name = {});  // halves to even; integers as they are
WEIR_API Output rint(const In& x, std::string_view name = {});
WEIR_API Output erf(const In& x, std::string_view name = {});
WEIR_API Output erfc(const In& x, std::string_view name = {});
WEIR_API Output lgamma(const In& x, std::string_view name = {});
WEIR_API Output digamma(const In& x, std::string_view name = {});
WEIR_API Output is_nan(const In& x, std::string_view name = {});
WEIR_API Output is_inf(const In& x, std::string_view name = {});
WEIR_API Output is_finite(const In& x, std::string_view name = {});
WEIR_API Output logical_not(const In& x, std::string_view name = {});

// Complex numbers. conj() and real() give a real x back as it is.
WEIR_API Output conj(const In& x, std::string_view name = {});
WEIR_API Output real(const In& x, std::string_view name = {});
WEIR_API Output imag(const In& x, std::string_view name = {});
WEIR_API Output complex(const In& real, const In& imag, std::string_view name = {});

// Element by element, two operands, with broadcasting.
WEIR_API Output add(const In& x, const In& y, std::string_view name = {});  // also joins strings
WEIR_API Output subtract(const In& x, const In& y, std::string_view name = {});
WEIR_API Output multiply(const In& x, const In& y, std::string_view name = {});
WEIR_API Output divide(const In& x, const In& y, std::string_view name = {});   // operator/
WEIR_API Output truediv(const In& x, const In& y, std::string_view name = {});  // int32 and wider as double
WEIR_API Output realdiv(const In& x, const In& y, std::string_view name = {});
WEIR_API Output div(const In& x, const In& y, std::string_view name = {});       // integers: rounds down
WEIR_API Output floordiv(const In& x, const In& y, std::string_view name = {});  // rounds down
WEIR_API Output floormod(const In& x, const In& y, std::string_view name = {});  // has the sign of y
WEIR_API Output mod(const In& x, const In& y, std::string_view name = {});       // floormod
WEIR_API Output truncatediv(const In& x, const In& y, std::string_view name = {});
WEIR_API Output truncatemod(const In& x, const In& y, std::string_view name = {});
WEIR_API Output div_no_nan(const In& x, const In& y, std::string_view name = {});       // 0 where y is 0
WEIR_API Output multiply_no_nan(const In& x, const In& y, std::string_view name = {});  // 0 where y is 0
WEIR_API Output xlogy(const In& x, const In& y, std::string_view name = {});            // x * log(y), 0 where x is 0
WEIR_API Output xdivy(const In& x, const In& y, std::string_view name = {});            // x / y, 0 where x is 0
WEIR_API Output pow(const In& x, const In& y, std::string_view name = {});
WEIR_API Output maximum(const In& x, const In& y, std::string_view name = {});
WEIR_API Output minimum(const In& x, const In& y, std::string_view name = {});
WEIR_API Output squared_difference(const In& x, const In& y, std::string_view name = {});
WEIR_API Output atan2(const In& y, const In& x, std::string_view name = {});
WEIR_API Output equal(const In& x, const In& y, std::string_view name = {});
WEIR_API Output not_equal(const In& x, const In& y, std::string_view name = {});
WEIR_API Output less(const In& x, const In& y, std::string_view name = {});
WEIR_API Output less_equal(const In& x, const In& y, std::string_view name = {});
WEIR_API Output greater(const In& x, const In& y, std::string_view name = {});
WEIR_API Output greater_equal(const In& x, const In& y, std::string_view name = {});
WEIR_API Output logical_and(const In& x, const In& y, std::string_view name = {});
WEIR_API Output logical_or(const In& x, const In& y, std::string_view name = {});
WEIR_API Output logical_xor(const In& x, const In& y, std::string_view name = {});

// x where the condition holds, y elsewhere. x and y have one shape; the condition has that shape too, or is a scalar,
// or a vector that chooses among rows.
WEIR_API Output where(const In& condition, const In& x, const In& y, std::string_view name = {});
// The same with broadcasting of all three.
WEIR_API Output where_v2(const In& condition, const In& x, const In& y, std::string_view name = {});

// x as it is when it has that type already.
WEIR_API Output cast(const In& x, DType dtype, std::string_view name = {});

// The sum of tensors of one shape; a single one is given back as it is.
WEIR_API Output add_n(const InList& inputs, std::string_view name = {});

// Axes of a reduction: {0, 1}, {-1}, a vector, an integer tensor; nothing means all of them.
class WEIR_API Axes {
 public:
  Axes() = default;
  Axes(std::initializer_list<Literal> axes, In::Where where = In::Where::current()) : in_(In(axes, where)) {}  // NOLINT
  Axes(const std::vector<int>& axes, In::Where where = In::Where::current()) : in_(In(axes, where)) {}         // NOLINT
  Axes(const In& axes) : in_(axes) {}                                                                          // NOLINT
  Axes(const Output& axes, In::Where where = In::Where::current()) : in_(In(axes, where)) {}                   // NOLINT

  const std::optional<In>& in() const { return in_; }

 private:
  std::optional<In> in_;
};

struct ReduceOptions {
  Axes axes = {};
  bool keep_dims = false;  // reduced dimensions stay, with size 1
};

// reduce_sum(x), reduce_sum(x, 0), reduce_sum(x, {0, 1}), reduce_sum(x, {.axes = {-1}, .keep_dims = true})
class WEIR_API Reduction {
 public:
  constexpr explicit Reduction(std::string_view op) : op_(op) {}
  Output operator()(const In& x, const ReduceOptions& options = {}, std::string_view name = {}) const;
  template <class A>
  requires std::convertible_to<const A&, In> Output operator()(const In& x, const A& axes, bool keep_dims = false,
                                                               std::string_view name = {}) const {
    return (*this)(x, ReduceOptions{Axes(In(axes)), keep_dims}, name);
  }
  template <std::signed_integral T>
  Output operator()(const In& x, std::initializer_list<T> axes, bool keep_dims = false,
                    std::string_view name = {}) const {
    return (*this)(x, ReduceOptions{Axes(std::vector<int>(axes.begin(), axes.end())), keep_dims}, name);
  }

 private:
  std::string_view op_;
};
inline constexpr Reduction reduce_sum("Sum"), reduce_mean("Mean"), reduce_max("Max"), reduce_min("Min"),
    reduce_prod("Prod"), reduce_all("All"), reduce_any("Any");
// log(sum(exp(x))), computed so that nothing overflows.
WEIR_API Output reduce_logsumexp(const In& x, const ReduceOptions& options = {}, std::string_view name = {});

// The index of the largest (smallest) element along an axis, the first of equals.
WEIR_API Output argmax(const In& x, const In& axis, DType output_type = DType::Int64, std::string_view name = {});
WEIR_API Output argmin(const In& x, const In& axis, DType output_type = DType::Int64, std::string_view name = {});

struct CumulateOptions {
  bool exclusive = false;  // the element itself does not count: the first result is 0 (1)
  bool reverse = false;
};
WEIR_API Output cumsum(const In& x, const In& axis = 0, const CumulateOptions& options = {},
                       std::string_view name = {});
WEIR_API Output cumprod(const In& x, const In& axis = 0, const CumulateOptions& options = {},
                        std::string_view name = {});

// Sums of the rows with equal ids, which are sorted.
WEIR_API Output segment_sum(const In& data, const In& segment_ids, std::string_view name = {});

struct MatMulOptions {
  bool transpose_a = false, transpose_b = false;
  bool adjoint_a = false, adjoint_b = false;  // transposed and conjugated
};
// Products of matrices; of the inner-most two dimensions of tensors of higher rank, whose other dimensions broadcast.
WEIR_API Output matmul(const In& a, const In& b, const MatMulOptions& options = {}, std::string_view name = {});

struct BatchMatMulOptions {
  bool adj_x = false, adj_y = false;
};
// Without broadcasting of the batch dimensions (TensorFlow's BatchMatMul).
WEIR_API Output batch_matmul(const In& x, const In& y, const BatchMatMulOptions& options = {},
                             std::string_view name = {});

// Values outside [low, high] become low or high.
WEIR_API Output clip_by_value(const In& t, const In& low, const In& high, std::string_view name = {});
// Scales t down so that its Euclidean norm is at most clip_norm: over all of t, or along the axes.
WEIR_API Output clip_by_norm(const In& t, const In& clip_norm, const Axes& axes = {}, std::string_view name = {});
// sqrt of the sum of squares of all elements. Empty outputs of the list are passed over.
WEIR_API Output global_norm(const std::vector<Output>& tensors, std::string_view name = {},
                            In::Where where = In::Where::current());
// Scales all tensors by clip_norm / max(global norm, clip_norm). Gives the tensors and the norm before.
WEIR_API std::pair<std::vector<Output>, Output> clip_by_global_norm(const std::vector<Output>& tensors,
                                                                    const In& clip_norm, Output use_norm = {},
                                                                    std::string_view name = {});

}  // namespace weir

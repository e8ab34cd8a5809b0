#include "weir/bijectors.h"

#include <numbers>

#include "nn/distributions/helpers.h"
#include "weir/linalg_ops.h"

namespace weir::bijectors {

using distributions::column;
using distributions::number_like;
using distributions::row;
using std::numbers::ln2;

Output Identity::do_forward_log_det_jacobian(const Output& x) const { return number_like(x, 0); }

PowerTransform::PowerTransform(double power, std::string name) : Bijector({.name = std::move(name)}), power_(power) {
  if (power < 0) throw invalid_argument("`power` must be a non-negative number, not {}", power);
}
Output PowerTransform::do_forward(const Output& x) const {
  return power_ == 0 ? exp(x) : exp(log1p(x * power_) / power_);
}
Output PowerTransform::do_inverse(const Output& y) const {
  return power_ == 0 ? log(y) : expm1(log(y) * power_) / power_;
}
Output PowerTransform::do_inverse_log_det_jacobian(const Output& y) const { return (power_ - 1.0) * log(y); }
Output PowerTransform::do_forward_log_det_jacobian(const Output& x) const {
  return power_ == 0 ? x : (1.0 / power_ - 1.0) * log1p(x * power_);
}

Output Sigmoid::do_forward(const Output& x) const { return sigmoid(x); }
Output Sigmoid::do_inverse(const Output& y) const { return log(y) - log1p(-y); }
Output Sigmoid::do_inverse_log_det_jacobian(const Output& y) const { return -log1p(-y) - log(y); }
Output Sigmoid::do_forward_log_det_jacobian(const Output& x) const { return -nn::softplus(-x) - nn::softplus(x); }

Output Tanh::do_forward(const Output& x) const { return tanh(x); }
Output Tanh::do_inverse(const Output& y) const { return atanh(y); }
Output Tanh::do_forward_log_det_jacobian(const Output& x) const { return 2.0 * (ln2 - x - nn::softplus(-2.0 * x)); }

Output Softplus::do_forward(const Output& x) const {
  return softness_ ? *softness_ * nn::softplus(x / *softness_) : nn::softplus(x);
}
Output Softplus::do_inverse(const Output& y) const {
  if (!softness_) return y + log(-expm1(-y));
  const Output scaled = y / *softness_;
  return *softness_ * (scaled + log(-expm1(-scaled)));
}
Output Softplus::do_forward_log_det_jacobian(const Output& x) const {
  return -nn::softplus(softness_ ? -x / *softness_ : -x);
}

Output Softsign::do_forward(const Output& x) const { return x / (1.0 + abs(x)); }
Output Softsign::do_inverse(const Output& y) const { return y / (1.0 - abs(y)); }
Output Softsign::do_forward_log_det_jacobian(const Output& x) const { return -2.0 * log1p(abs(x)); }

Output Square::do_forward(const Output& x) const { return square(x); }
Output Square::do_inverse(const Output& y) const { return sqrt(y); }
Output Square::do_forward_log_det_jacobian(const Output& x) const { return ln2 + log(x); }

Output Gumbel::do_forward(const Output& x) const { return exp(-exp(-(x - loc_) / scale_)); }
Output Gumbel::do_inverse(const Output& y) const { return loc_ - scale_ * log(-log(y)); }
Output Gumbel::do_inverse_log_det_jacobian(const Output& y) const { return log(scale_ / (-log(y) * y)); }

Output AffineScalar::do_forward(const Output& x) const {
  const Output scaled = options_.scale ? x * *options_.scale : x;
  return options_.shift ? scaled + *options_.shift : scaled;
}
Output AffineScalar::do_inverse(const Output& y) const {
  const Output scaled = options_.shift ? y - *options_.shift : y;
  return options_.scale ? scaled / *options_.scale : scaled;
}
Output AffineScalar::do_forward_log_det_jacobian(const Output& x) const {
  if (!options_.scale) return number_like(x, 0);
  return log(abs(nn::as_output(x.graph(), *options_.scale, x.dtype(), "scale")));
}

Affine::Affine(AffineOptions options)
    : Bijector({.name = "affine", .min_event_ndims = 1, .is_constant_jacobian = true}), options_(std::move(options)) {
  if (options_.scale_diag && options_.scale_tril) {
    throw invalid_argument("give scale_diag or scale_tril, not both");
  }
}
Output Affine::tril(const Output& like) const {
  return matrix_band_part(nn::as_output(like.graph(), *options_.scale_tril, like.dtype(), "scale_tril"), -1, 0);
}
Output Affine::do_forward(const Output& x) const {
  Output y = x;
  if (options_.scale_tril) y = reduce_sum(tril(x) * row(x), -1);
  if (options_.scale_diag) y = x * *options_.scale_diag;
  return options_.shift ? y + *options_.shift : y;
}
Output Affine::do_inverse(const Output& y) const {
  const Output x = options_.shift ? y - *options_.shift : y;
  if (options_.scale_diag) return x / *options_.scale_diag;
  if (!options_.scale_tril) return x;
  const Output triangle = tril(x);
  const Output all = concat({distributions::without_last(shape(x)), subscript(shape(triangle), {from(-2)})}, 0);
  const Output matrix = triangle + zeros(x.graph(), all, x.dtype());
  const Output right = column(x) + zeros_like(subscript(matrix, {kEllipsis, until(1)}));
  return subscript(matrix_triangular_solve(matrix, right, {.lower = true}), {kEllipsis, 0});
}
Output Affine::do_forward_log_det_jacobian(const Output& x) const {
  if (options_.scale_tril) return reduce_sum(log(abs(matrix_diag_part(tril(x)))), -1);
  if (!options_.scale_diag) return number_like(x, 0);
  const Output diag = nn::as_output(x.graph(), *options_.scale_diag, x.dtype(), "scale_diag");
  const Output logs = log(abs(diag)), size = subscript(shape(x), {-1});
  // A diagonal of one number stands for that of all.
  if (diag.shape().is_scalar()) return cast(size, x.dtype()) * logs;
  return cast(div(size, subscript(shape(diag), {-1})), x.dtype()) * reduce_sum(logs, -1);
}

}  // namespace weir::bijectors

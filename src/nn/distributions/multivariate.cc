#include <cmath>
#include <numbers>

#include "nn/distributions/helpers.h"
#include "weir/linalg_ops.h"

namespace weir::distributions {
namespace {

using std::numbers::pi;

}  // namespace

void MultivariateNormal::set_scale(std::string_view name, const Output& loc, const Output& diag, const Output& tril,
                                   const Options& options) {
  loc_ = loc;
  diag_ = diag;
  tril_ = tril;
  like_ = loc + zeros_like(tril ? subscript(tril, {kEllipsis, 0}) : diag);
  set_up({.graph = &loc.graph(), .name = std::string(name), .dtype = loc.dtype(), .reparameterized = true}, options);
}

Output MultivariateNormal::scale() const { return tril_ ? tril_ : matrix_diag(diag_ + zeros_like(like_)); }
Shape MultivariateNormal::do_batch_shape() const { return without_last(like_.shape()); }
Output MultivariateNormal::do_batch_shape_tensor() const { return without_last(shape(like_)); }
Shape MultivariateNormal::do_event_shape() const { return last(like_.shape()); }
Output MultivariateNormal::do_event_shape_tensor() const { return last(shape(like_)); }

Output MultivariateNormal::times_scale(const Output& z) const {
  return tril_ ? reduce_sum(tril_ * row(z), -1) : z * diag_;
}

// scale^-1 x
Output MultivariateNormal::by_scale(const Output& x) const {
  if (!tril_) return x / diag_;
  const Output shape_of_all = concat({without_last(shape(x)), subscript(shape(tril_), {from(-2)})}, 0);
  const Output tril = tril_ + zeros(graph(), shape_of_all, dtype());
  const Output right = column(x) + zeros_like(subscript(tril, {kEllipsis, until(1)}));
  return subscript(matrix_triangular_solve(tril, right, {.lower = true}), {kEllipsis, 0});
}

Output MultivariateNormal::log_det() const {
  const Output diag = tril_ ? matrix_diag_part(tril_) : diag_;
  return reduce_sum(log(abs(diag + zeros_like(like_))), -1);
}

Output MultivariateNormal::length() const { return cast(subscript(event_shape_tensor(), {0}), dtype()); }

Output MultivariateNormal::do_sample_n(const Output& n, Seed seed) const {
  const Output z = standard_normal(concat({reshape(n, {1}), shape(like_)}, 0), dtype(), seed);
  return times_scale(z) + loc_;
}
Output MultivariateNormal::do_log_prob(const Output& x) const {
  const Output z = by_scale(x - loc_);
  return -0.5 * reduce_sum(square(z), -1) - 0.5 * length() * std::log(2.0 * pi) - log_det();
}
Output MultivariateNormal::do_entropy() const { return 0.5 * length() * (1.0 + std::log(2.0 * pi)) + log_det(); }
Output MultivariateNormal::do_mean() const { return identity(like_); }
Output MultivariateNormal::do_variance() const {
  return (tril_ ? reduce_sum(square(tril_), -1) : square(diag_)) + zeros_like(like_);
}
Output MultivariateNormal::do_stddev() const { return sqrt(do_variance()); }
Output MultivariateNormal::do_covariance() const {
  const Output dense = scale();
  return matmul(dense, dense, {.adjoint_b = true});
}

Output MultivariateNormal::do_kl(const Distribution& other) const {
  const auto* b = dynamic_cast<const MultivariateNormal*>(&other);
  if (!b) return {};
  auto scope = graph().name_scope("kl_mvn");
  Output trace;
  if (!tril_ && !b->tril_) {
    trace = reduce_sum(square((diag_ + zeros_like(like_)) / b->diag_), -1);
  } else {
    const Output ours = this->scale(), theirs = b->scale();
    trace = reduce_sum(
        square(matrix_triangular_solve(theirs + zeros_like(ours), ours + zeros_like(theirs), {.lower = true})),
        {-2, -1});
  }
  const Output distance = reduce_sum(square(b->by_scale(b->loc_ - loc_ + zeros_like(b->like_))), -1);
  return b->log_det() - log_det() + 0.5 * (-length() + trace + distance);
}

MultivariateNormalDiag::MultivariateNormalDiag(const In& loc, const In& scale_diag, const Options& options) {
  Graph& graph = graph_of(options, {&loc, &scale_diag});
  const LineScope line(graph, source_line(loc.where()));
  auto scope = enter(graph, options, "MultivariateNormalDiag");
  const std::vector<Output> found = tensors(graph, {{&loc, "loc"}, {&scale_diag, "scale_diag"}});
  set_scale(scope.name(), found[0], found[1], {}, options);
}

MultivariateNormalTriL::MultivariateNormalTriL(const In& loc, const In& scale_tril, const Options& options) {
  Graph& graph = graph_of(options, {&loc, &scale_tril});
  const LineScope line(graph, source_line(loc.where()));
  auto scope = enter(graph, options, "MultivariateNormalTriL");
  const std::vector<Output> found = tensors(graph, {{&scale_tril, "scale_tril"}, {&loc, "loc"}});
  set_scale(scope.name(), found[1], {}, matrix_band_part(found[0], -1, 0), options);
}

MultivariateNormalFullCovariance::MultivariateNormalFullCovariance(const In& loc, const In& covariance_matrix,
                                                                   const Options& options) {
  Graph& graph = graph_of(options, {&loc, &covariance_matrix});
  const LineScope line(graph, source_line(loc.where()));
  auto scope = enter(graph, options, "MultivariateNormalFullCovariance");
  const std::vector<Output> found = tensors(graph, {{&covariance_matrix, "covariance_matrix"}, {&loc, "loc"}});
  set_scale(scope.name(), found[1], {}, matrix_band_part(cholesky(found[0]), -1, 0), options);
}

}  // namespace weir::distributions

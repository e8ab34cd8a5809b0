#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "nn/convert.h"
#include "weir/distributions.h"
#include "weir/ops.h"

// What the distributions share.
namespace weir::distributions {

using Seed = Distribution::Seed;

// The graph of the parameters, or that of the options.
Graph& graph_of(const Options& options, std::initializer_list<const In*> parameters);
// Enters the scope of a new distribution.
Scope enter(Graph& graph, const Options& options, std::string_view usual);
// Parameters as tensors of one floating type: that of the first tensor among them; whole numbers become float.
std::vector<Output> tensors(Graph& graph, std::initializer_list<std::pair<const In*, std::string_view>> parameters,
                            DType preferred = DType::Invalid);

struct Check {
  Output condition;  // all of it must hold
  std::string_view message;
  Output shown;
};
// The tensor, used after the checks where these are asked for.
Output checked(bool wanted, const Output& tensor, const std::function<std::vector<Check>()>& checks);
Output positive(bool wanted, const Output& tensor, std::string_view name);

// A number of the type of x, and so many of them.
Output number_like(const Output& x, double value);
Output filled_like(const Output& x, double value);
// x[..., None], x[..., None, :], shape[:-1], shape[-1:]
Output column(const Output& x);
Output row(const Output& x);
Output without_last(const Output& vector);
Output last(const Output& vector);
Shape without_last(const Shape& shape);
Shape last(const Shape& shape);
Shape joined(const Shape& first, const Shape& second);

double smallest(DType dtype);  // normal number
Output random_gamma(const Output& n, const Output& alpha, const std::optional<Output>& beta, Seed seed);
Output standard_normal(const Output& shape, DType dtype, Seed seed);
// Where it is defined, and NaN or a failure where it is not.
Output or_nan(bool allow_nan_stats, const Output& defined, const Output& value, std::string_view message);
// -outer(x, y), with `diagonal` in place of its own.
Output covariance_of(const Output& x, const Output& y, const Output& diagonal);

struct LogitsAndProbs {
  Output logits, probs;
};
LogitsAndProbs logits_and_probs(Graph& graph, const Odds& odds, bool validate_args, bool multidimensional);
// log of the binomial coefficient.
Output log_choose(const Output& total, const Output& counts);

// The normal distribution function's logarithm, exact in both tails, and its inverse.
Output log_ndtr(const Output& x);
Output ndtri(const Output& p);

}  // namespace weir::distributions

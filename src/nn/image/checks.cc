#include "nn/image/checks.h"

#include <algorithm>

#include "graph/node.h"

#include "weir/ops.h"

namespace weir::image {
namespace {

// TensorFlow's assert_positive: a tensor of integers, with a message.
Operation assert_positive(const Output& x, std::string_view message) {
  Graph& g = x.graph();
  Scope scope = g.name_scope("assert_positive");
  Output zero = g.constant(Literal(0), x.dtype());
  Scope less = g.name_scope("assert_less");
  Output condition = reduce_all(weir::less(zero, x));
  return assert_true(condition, {std::string(message)});
}

Operation assert_rank_at_least(const Output& image, int rank, std::string_view message) {
  Graph& g = image.graph();
  Output actual = weir::rank(image);
  Scope scope = g.name_scope("assert_greater_equal");
  Output condition = reduce_all(greater_equal(actual, g.constant(Literal(rank), int32, "y")));
  return assert_true(condition, {std::string(message)});
}

}  // namespace

double number_of(const In& in) {
  switch (in.value().dtype()) {
    case DType::Int32:
      return in.value().scalar<int32_t>();
    case DType::Int64:
      return static_cast<double>(in.value().scalar<int64_t>());
    case DType::Float32:
      return in.value().scalar<float>();
    case DType::Float64:
      return in.value().scalar<double>();
    default:
      throw wrong_type("expected a number, got {}", in.value().str());
  }
}

int64_t integer_of(const In& in) {
  const DType dtype = in.value().dtype();
  if (dtype == int64) return in.value().scalar<int64_t>();
  if (dtype == int32) return in.value().scalar<int32_t>();
  throw wrong_type("expected a whole number, got {}", in.value().str());
}

Length::Length(const In& in) : tensor_(in.output()) {
  if (!tensor_) number_ = integer_of(in);
}

Length floordiv(const Length& a, int64_t b) {
  if (!a.known()) return weir::floordiv(a.tensor(), b);
  return a.number() / b - (a.number() % b < 0 ? 1 : 0);
}
Length max(const Length& a, const Length& b) {
  if (a.known() && b.known()) return std::max(a.number(), b.number());
  return maximum(a.in(), b.in());
}
Length min(const Length& a, const Length& b) {
  if (a.known() && b.known()) return std::min(a.number(), b.number());
  return minimum(a.in(), b.in());
}

void Checks::require(const Output& condition, std::string_view message) {
  // What constants decide is known now.
  const Tensor known = constant_value(condition);
  if (known.valid() && !known.scalar<bool>()) throw invalid_argument("assertion failed: [{}]", message);
  checks_.push_back(assert_true(condition, {std::string(message)}));
}

void Checks::at_least_3d(const Output& image) {
  const Shape& known = image.shape();
  if (known.has_rank() && known.rank() < 3) throw invalid_argument("'image' must be at least three-dimensional.");
  const auto dims = known.dims();
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    throw invalid_argument("all dims of 'image.shape' must be > 0: {}", known.str());
  }
  if (known.is_known()) return;
  checks_.push_back(assert_positive(shape(image), "all dims of 'image.shape' must be > 0."));
  checks_.push_back(assert_rank_at_least(image, 3, "'image' must be at least three-dimensional."));
}

void Checks::at_least(const Length& a, const Length& b, std::string_view message) {
  if (a.known() && b.known()) {
    if (a.number() < b.number()) throw invalid_argument("{}", message);
  } else if (a.known()) {
    require(less_equal(b.tensor(), a.number()), message);  // as Python turns it around
  } else {
    require(greater_equal(a.tensor(), b.in()), message);
  }
}

void Checks::positive(const Length& a, std::string_view message) {
  if (!a.known()) {
    require(greater(a.tensor(), 0), message);
  } else if (a.number() <= 0) {
    throw invalid_argument("{}", message);
  }
}

void Checks::equal(const Length& a, const Length& b, std::string_view message) {
  if (!a.known() || !b.known()) {
    require(weir::equal(a.in(), b.in()), message);
  } else if (a.number() != b.number()) {
    throw invalid_argument("{}", message);
  }
}

Output Checks::after(const Output& tensor) const {
  Scope scope = graph_.name_scope("control_dependency");
  Scope dependencies = graph_.control_dependencies(checks_);
  return identity(tensor, scope.name());
}

Output require_at_least_3d(const Output& image) {
  Checks checks(image.graph());
  checks.at_least_3d(image);
  return checks.after(image);
}

std::vector<Length> dimensions(const Output& image, int rank) {
  const Shape known = image.shape().merged(Shape::unknown_dims(rank));
  std::vector<Length> result(known.dims().begin(), known.dims().end());
  if (image.shape().is_known()) return result;
  const std::vector<Output> tensors = unstack(shape(image), rank);
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i].number() == kUnknown) result[i] = tensors[i];
  }
  return result;
}

Output stack_lengths(Graph& graph, const std::vector<Length>& lengths, std::string_view name) {
  if (std::all_of(lengths.begin(), lengths.end(), [](const Length& l) { return l.known(); })) {
    std::vector<int32_t> numbers;
    for (const Length& length : lengths) numbers.push_back(static_cast<int32_t>(length.number()));
    return graph.constant(Tensor(numbers), name);
  }
  std::vector<In> values;
  for (const Length& length : lengths) values.push_back(length.in());
  return stack(values, 0, name);
}

Batch as_batch(const Output& image) {
  const Shape& known = image.shape();
  if (known.rank() == 4) return {image, false};
  if (known.has_rank() && known.rank() != 3) throw invalid_argument("'image' must have either 3 or 4 dimensions.");
  Output images = expand_dims(image, 0);
  images.set_shape(Shape::unknown_dims(4));
  return {images, true};
}

Output Batch::undo(const Output& result) const { return alone ? squeeze(result, {0}) : result; }

Output with_flipped_shape(const Output& image, const Output& result) {
  result.set_shape(image.shape().has_rank() ? image.shape() : Shape::unknown_dims(3));
  return result;
}

}  // namespace weir::image

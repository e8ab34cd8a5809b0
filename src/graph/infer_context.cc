#include "graph/infer_context.h"

#include <cstring>

#include "base/errors.h"
#include "graph/bodies.h"
#include "graph/op.h"
#include "tensor/elements.h"

namespace weir {
namespace {

bool equal(const Tensor& a, const Tensor& b) {
  if (!a.valid() || !b.valid()) return a.valid() == b.valid();
  return a.dtype() == b.dtype() && a.shape() == b.shape() && is_plain(a.dtype()) &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace

bool Elements::operator==(const Elements& other) const {
  return none == other.none && shape == other.shape && equal(value, other.value);
}

Elements Elements::of_either(const Elements& a, const Elements& b) {
  if (a.none) return b;
  if (b.none) return a;
  return {.shape = common_shape(a.shape, b.shape), .value = equal(a.value, b.value) ? a.value : Tensor()};
}

Elements InferContext::Values::elements(int) { return {}; }
Elements InferContext::Values::as_element(int, const Shape& shape) { return {.shape = shape}; }

InferContext::InferContext(const Op& op, const AttrMap& attrs, std::span<const Shape* const> inputs, size_t outputs,
                           Values& values)
    : op_(op), attrs_(attrs), inputs_(inputs), outputs_(outputs, Shape::unknown()), values_(values) {}
InferContext::~InferContext() = default;

Shape InferContext::handle_shape(int index) { return values_.handle_shape(index); }
Elements InferContext::elements(int list) { return values_.elements(list); }
Elements InferContext::as_element(int index) { return values_.as_element(index, input(index)); }

std::vector<Shape> InferContext::take_outputs() { return std::move(outputs_); }
std::vector<Elements> InferContext::take_elements() { return std::move(elements_); }
std::vector<Tensor> InferContext::take_values() { return std::move(output_values_); }

void InferContext::set_elements(int index, Elements elements) {
  elements_.resize(outputs_.size());
  elements_[static_cast<size_t>(index)] = std::move(elements);
}

void InferContext::set_value(int index, Tensor value) {
  output_values_.resize(outputs_.size());
  output_values_[static_cast<size_t>(index)] = std::move(value);
}

void InferContext::require_host(int index) const {
  if (anywhere_ || op_.def->host_only) return;
  const ArgSpec& arg = op_.input_arg(static_cast<size_t>(index), attrs_);
  if (arg.on_host) return;
  throw error(Code::Internal,
              "the shape function of {} reads the value of '{}', which its row does not keep on the host", op_.name,
              arg.name);
}

Tensor InferContext::value(int index) {
  require_host(index);
  return values_.value(index);
}

Shape InferContext::value_as_shape(int index) {
  require_host(index);
  return values_.value_as_shape(index);
}

std::optional<std::vector<int64_t>> InferContext::value_as_ints(int index) {
  Tensor value = this->value(index);
  if (!value.valid()) return std::nullopt;
  std::vector<int64_t> ints;
  if (value.dtype() == DType::Int32) {
    for (int32_t v : value.data<int32_t>()) ints.push_back(v);
  } else if (value.dtype() == DType::Int64) {
    for (int64_t v : value.data<int64_t>()) ints.push_back(v);
  } else {
    throw invalid_argument("input {} is {}, not an integer", index, dtype_name(value.dtype()));
  }
  return ints;
}

void InferContext::require_rank(int index, int rank) const {
  const Shape& shape = input(index);
  if (shape.has_rank() && shape.rank() != rank) {
    static constexpr const char* kKinds[] = {"a scalar", "a vector", "a matrix"};
    throw invalid_argument("Shape must be rank {} but is rank {}: {} must be {}, got shape {}", rank, shape.rank(),
                           op_.input_arg(static_cast<size_t>(index), attrs_).name,
                           rank < 3 ? kKinds[rank] : fmt::format("{}-dimensional", rank), shape.str());
  }
}

void InferContext::require_min_rank(int index, int rank) const {
  const Shape& shape = input(index);
  if (shape.has_rank() && shape.rank() < rank) {
    throw invalid_argument(
        "Shape must be at least rank {} but is rank {}: input must be at least {}-dim, and input {} has shape {}", rank,
        shape.rank(), rank, index, shape.str());
  }
}

int InferContext::normalise_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) throw invalid_argument("axis {} is out of valid range [{}, {})", axis, -rank, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

namespace infer {

void scalar(InferContext& c) {
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, Shape{});
}

void unchanged(InferContext& c) { c.set_output(0, c.input(0)); }

void broadcast_binary(InferContext& c) { c.set_output(0, Shape::broadcast(c.input(0), c.input(1))); }

void merged(InferContext& c) {
  Shape shape = c.input(0);
  for (int i = 1; i < c.inputs(); ++i) {
    if (!shape.compatible(c.input(i))) {
      throw invalid_argument("all inputs must have the same size and shape; shapes {} and {} differ", shape.str(),
                             c.input(i).str());
    }
    shape = shape.merged(c.input(i));
  }
  c.set_output(0, std::move(shape));
}

}  // namespace infer
}  // namespace weir

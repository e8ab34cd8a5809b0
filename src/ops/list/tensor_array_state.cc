#include "ops/list/tensor_array_state.h"

#include <algorithm>

#include "base/errors.h"
#include "graph/op.h"
#include "ops/math/add_tensors.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 27;  // elements that are there whether they are written or not

Shape joined(const Shape& first, const Shape& rest) {
  if (!first.has_rank() || !rest.has_rank()) return Shape::unknown();
  Shape all = first;
  for (int64_t size : rest.dims()) all.append(size);
  return all;
}

}  // namespace

TensorArrayState::TensorArrayState(std::string name, Options options)
    : name_(std::move(name)), options_(std::move(options)) {
  if (options_.size < 0) throw invalid_argument("Size should be >= 0.");
  if (options_.size > kMaxSize) {
    throw error(Code::ResourceExhausted, "a TensorArray of {} elements is asked for", options_.size);
  }
  elements_.resize(static_cast<size_t>(options_.size));
}

void TensorArrayState::require_dtype(DType dtype, bool writes) const {
  if (dtype == options_.dtype) return;
  throw invalid_argument("TensorArray dtype is {} but Op {} dtype {}.", dtype_name(options_.dtype),
                         writes ? "is trying to write" : "requested", dtype_name(dtype));
}

void TensorArrayState::require_open() const {
  if (closed_) throw invalid_argument("TensorArray {} has already been closed.", name_);
}

void TensorArrayState::write(std::span<const int32_t> indices, std::span<const Tensor> values) {
  std::lock_guard lock(mutex_);
  require_open();
  for (size_t i = 0; i < indices.size(); ++i) write_one(indices[i], values[i]);
}

void TensorArrayState::write_one(int32_t index, const Tensor& value) {
  auto refuse = [&](const std::string& why) {
    return invalid_argument("TensorArray {}: Could not write to TensorArray index {} because {}", name_, index, why);
  };
  const auto at = static_cast<size_t>(index);
  if (index < 0 || (!options_.dynamic_size && at >= elements_.size())) {
    throw invalid_argument("TensorArray {}: Tried to write to index {} but array is not resizeable and size is: {}",
                           name_, index, elements_.size());
  }
  if (at >= elements_.size()) {
    if (index >= kMaxSize) throw error(Code::ResourceExhausted, "TensorArray {}: index {} is asked for", name_, index);
    elements_.resize(at + 1);
  }
  Element& element = elements_[at];
  if (!options_.element_shape.compatible(value.shape())) {
    throw refuse(
        fmt::format("the value shape is {} which is incompatible with the TensorArray's inferred element shape: "
                    "{} (consider setting infer_shape=False).",
                    value.shape().str(), options_.element_shape.str()));
  }
  if (options_.identical_element_shapes && !options_.element_shape.is_known()) options_.element_shape = value.shape();
  if (element.read) throw refuse("it has already been read.");
  if (!options_.sums_writes && element.written) throw refuse("it has already been written to.");
  if (!element.written) {
    element.tensor = value;
    element.shape = value.shape();
    element.written = true;
    return;
  }
  if (value.shape() != element.shape) {
    throw invalid_argument(
        "TensorArray {}: Could not aggregate to TensorArray index {} because the existing shape is {} but the new "
        "input "
        "shape is {}.",
        name_, index, element.shape.str(), value.shape().str());
  }
  if (!element.tensor.valid()) {
    element.tensor = value;
    return;
  }
  element.tensor = add_tensors(element.tensor, value);
  summed_ = true;
}

std::vector<Tensor> TensorArrayState::read(std::span<const int32_t> indices) {
  std::lock_guard lock(mutex_);
  require_open();
  std::vector<Tensor> values;
  values.reserve(indices.size());
  for (int32_t index : indices) values.push_back(read_one(index));
  return values;
}

Tensor TensorArrayState::read_one(int32_t index) {
  const auto at = static_cast<size_t>(index);
  // A gradient that was never written, because the program stopped it, is zeros also behind the end.
  if (index < 0 || index >= kMaxSize || (!options_.is_grad && at >= elements_.size())) {
    throw invalid_argument("Tried to read from index {} but array size is: {}", index, elements_.size());
  }
  if (at >= elements_.size() || !elements_[at].written) {
    if (!options_.element_shape.is_known()) {
      throw invalid_argument(
          "TensorArray {}: Could not read from TensorArray index {}.  Furthermore, the element shape is not fully "
          "defined: {}.  It is possible you are working with a resizeable TensorArray and stop_gradients is not "
          "allowing "
          "the gradients to be written.  If you set the full element_shape property on the forward TensorArray, the "
          "proper all-zeros tensor will be returned instead of incurring this error.",
          name_, index, options_.element_shape.str());
    }
    if (at >= elements_.size()) elements_.resize(at + 1);
    elements_[at].shape = options_.element_shape;
    elements_[at].written = true;
  }
  Element& element = elements_[at];
  if (element.cleared) {
    throw invalid_argument(
        "TensorArray {}: Could not read index {} twice because it was cleared after a previous read (perhaps try "
        "setting "
        "clear_after_read = false?).",
        name_, index);
  }
  if (!element.tensor.valid()) element.tensor = Tensor::zeros(options_.dtype, element.shape);
  Tensor value = element.tensor;
  element.read = true;
  if (options_.clear_after_read) {
    element.tensor = Tensor();
    element.cleared = true;
  }
  return value;
}

int32_t TensorArrayState::size() const {
  std::lock_guard lock(mutex_);
  require_open();
  return static_cast<int32_t>(elements_.size());
}

int32_t TensorArrayState::size_to_join() const {
  std::lock_guard lock(mutex_);
  require_open();
  return options_.is_grad && marked_size_ >= 0 ? marked_size_ : static_cast<int32_t>(elements_.size());
}

void TensorArrayState::mark_size(int32_t size) {
  std::lock_guard lock(mutex_);
  require_open();
  if (!options_.is_grad) marked_size_ = size;
}

bool TensorArrayState::grows() const {
  std::lock_guard lock(mutex_);
  return options_.dynamic_size;
}

Shape TensorArrayState::element_shape() const {
  std::lock_guard lock(mutex_);
  return options_.element_shape;
}

void TensorArrayState::merge_element_shape(const Shape& shape) {
  std::lock_guard lock(mutex_);
  if (!options_.element_shape.compatible(shape)) {
    throw invalid_argument("Incompatible shapes during merge: {} vs. {}", options_.element_shape.str(), shape.str());
  }
  options_.element_shape = options_.element_shape.merged(shape);
}

void TensorArrayState::close() {
  std::lock_guard lock(mutex_);
  elements_.clear();
  closed_ = true;
}

ResourcePtr<TensorArrayState> TensorArrayState::gradient(const std::string& source, const Shape& prepended) {
  std::lock_guard lock(mutex_);
  require_open();
  options_.dynamic_size = false;  // gradients belong to the elements that there are
  if (summed_) {
    throw invalid_argument(
        "Unable to create a gradients TensorArray for {}.  Perhaps you used the multiple_writes_aggregate flag on a "
        "previous write?  Gradient calculation is impossible when multiple writes are performed to the same index.",
        name_);
  }
  ResourcePtr<TensorArrayState>& made = gradients_[source];
  if (made) return made;
  Options options = options_;
  options.size = static_cast<int64_t>(elements_.size());
  options.element_shape = joined(prepended, options_.element_shape);
  options.clear_after_read = options.sums_writes = options.is_grad = true;
  made = make_resource<TensorArrayState>(name_ + "@" + source, std::move(options));
  made->marked_size_ = marked_size_;
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (!elements_[i].written) continue;
    made->elements_[i].shape = joined(prepended, elements_[i].shape);
    made->elements_[i].written = true;
  }
  return made;
}

TensorArrayState& tensor_array(const KernelContext& c) {
  // The handle, which the run holds, keeps it alive for the time of the call.
  const ResourcePtr<Resource> found = run_handle(c);
  auto* array = dynamic_cast<TensorArrayState*>(found.get());
  if (!array) throw invalid_argument("the handle is not that of a TensorArray: it is {}", found->describe());
  return *array;
}

namespace {

// The part of a scope that names one call of gradients(): each has arrays of its own.
std::string gradient_source(const std::string& scope) {
  size_t end = std::string::npos;
  for (size_t begin = 0; begin < scope.size();) {
    const size_t slash = std::min(scope.find('/', begin), scope.size());
    if (std::string_view(scope).substr(begin, slash - begin).starts_with("gradients")) end = slash;
    begin = slash + 1;
  }
  return end == std::string::npos ? scope.substr(0, scope.find('/')) : scope.substr(0, end);
}

}  // namespace

std::string same_version(const GradContext& c, std::string_view name) {
  const std::string type = c.op().type();
  const bool is_numbered = type.ends_with("V2") || type.ends_with("V3");
  return std::string(name) + (is_numbered ? type.substr(type.size() - 2) : "");
}

GradientArray gradient_array(GradContext& c, const Output& flow) {
  Operation made = NodeBuilder(same_version(c, "TensorArrayGrad"))
                       .graph(c.graph())
                       .input(c.input(0))
                       .input(flow)
                       .attr("source", gradient_source(c.graph().current_name_scope()))
                       .build();
  if (made.outputs() > 1) return {made.output(0), made.output(1)};
  // The older forms give no flow: the array is there when its handle is.
  Scope after = c.graph().control_dependencies({made});
  return {made.output(0), identity(flow, "gradient_flow")};
}

}  // namespace weir::ops

#include "ops/data/dataset.h"

#include <random>

#include "base/errors.h"
#include "tensor/elements.h"

namespace weir::ops {

void IterateContext::end() const {
  control.check();
  throw Error(Code::Cancelled, "Iterator was cancelled: it was initialized anew, or its session was closed");
}

int64_t ElementIterator::skip(const IterateContext& c, int64_t count) {
  Element element;
  for (int64_t i = 0; i < count; ++i) {
    c.check();
    try {
      if (!next(c, element)) return i;
    } catch (const Error& e) {
      if (e.code() == Code::Cancelled || e.code() == Code::DeadlineExceeded) throw;
    }
    element.clear();
  }
  return count;
}

Pipeline::Seeds Pipeline::seeds(const std::string& place, Seeds given) {
  // Functions make data sets again and again, each at a place of its own: these are not kept.
  if (place.find('{') != std::string::npos) return given;
  std::lock_guard lock(mutex_);
  return seeds_.emplace(place, given).first->second;
}

std::map<std::string, Pipeline::Seeds> Pipeline::saved_seeds() const {
  std::lock_guard lock(mutex_);
  return seeds_;
}

void Pipeline::restore_seeds(std::map<std::string, Seeds> seeds) {
  std::lock_guard lock(mutex_);
  seeds_ = std::move(seeds);
}

Pipeline::Pipeline(const std::shared_ptr<FunctionRunner>& runner)
    : functions_(runner->pipeline_functions()), with_session_(runner->closed(), End{source_}) {}

DatasetPtr dataset_input(const KernelContext& c, int index) {
  const auto* element = static_cast<const Variant*>(c.raw_input(index));
  auto dataset = element ? std::dynamic_pointer_cast<const Dataset>(*element) : nullptr;
  if (!dataset) throw invalid_argument("Tensor must be a Dataset object: input {} is none", index);
  return dataset;
}

void set_dataset(KernelContext& c, DatasetPtr dataset, int output) {
  c.set_output(output, variant_tensor(std::move(dataset)));
}

ElementSpec declared_spec(const KernelContext& c) {
  const AttrValue* types = c.node().attrs().find("output_types");
  ElementSpec spec{types ? std::get<std::vector<DType>>(*types) : c.node().attr<std::vector<DType>>("Toutput_types"),
                   c.node().attr<std::vector<Shape>>("output_shapes")};
  if (spec.types.size() == spec.shapes.size()) return spec;
  throw invalid_argument("`output_types` and `output_shapes` must be the same length: {} vs. {}", spec.types.size(),
                         spec.shapes.size());
}

void CalledFunction::operator()(const IterateContext& c, const Element& arguments, Element& results) const {
  GraphFunction& function = c.pipeline.function(name);
  results.resize(function.results());
  if (captured.empty()) {
    function.call(arguments, results, c.control);
    return;
  }
  Element all;
  all.reserve(arguments.size() + captured.size());
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), captured.begin(), captured.end());
  function.call(all, results, c.control);
}

CalledFunction function_input(const KernelContext& c, std::string_view attr, int first, int count) {
  CalledFunction function{c.node().attr<FunctionName>(attr).name, {}};
  for (int i = first; i < first + count; ++i) {
    function.captured.push_back(c.dtype(i) == DType::Resource || !c.raw_input(i) ? Tensor() : c.input_tensor(i));
  }
  return function;
}

int types_of_list(const KernelContext& c, std::string_view attr) {
  return static_cast<int>(c.node().attr<std::vector<DType>>(attr).size());
}

std::pair<uint64_t, uint64_t> seed_inputs(const KernelContext& c, int index) {
  auto seed = static_cast<uint64_t>(c.scalar<int64_t>(index)),
       seed2 = static_cast<uint64_t>(c.scalar<int64_t>(index + 1));
  if (seed == 0 && seed2 == 0) {
    std::random_device device;
    auto draw = [&] { return static_cast<uint64_t>(device()) << 32 | device(); };
    seed = draw();
    seed2 = draw();
  }
  return {seed, seed2};
}

Tensor BatchMaker::take(size_t component, DType dtype, const Shape& shape) {
  if (!is_plain(dtype) && dtype != DType::String) return Tensor(dtype, shape);
  if (kept_.size() <= component) kept_.resize(component + 1);
  std::vector<Tensor>& kept = kept_[component];
  for (Tensor& tensor : kept) {
    if (tensor.buffer()->unique() && tensor.shape() == shape && tensor.dtype() == dtype) return tensor;
  }
  Tensor made(dtype, shape);
  // Small ones cost less to allocate than to look for. Strings may be large: were they all freed at once, the system
  // would take their pages back and clear them again for the next batch.
  if ((made.bytes() >= 4096 || dtype == DType::String) && made.buffer()) {
    if (kept.size() >= kKept) kept.erase(kept.begin());
    kept.push_back(made);
  }
  return made;
}

namespace {

// Copies a row to `to`, or moves its strings, which may be whole files, when nobody else has them.
void put_row(Tensor& row, void* to) {
  if (row.dtype() == DType::String && row.buffer() && row.buffer()->unique()) {
    auto* strings = static_cast<std::string*>(row.mutable_raw());
    std::move(strings, strings + row.elements(), static_cast<std::string*>(to));
  } else {
    copy_elements(row.dtype(), row.raw(), to, row.elements());
  }
}

}  // namespace

Element BatchMaker::batch(std::vector<Element>& elements) {
  Element batch;
  const auto count = static_cast<int64_t>(elements.size());
  for (size_t component = 0; component < elements[0].size(); ++component) {
    const Tensor& first = elements[0][component];
    Shape shape{count};
    for (int64_t dim : first.shape().dims()) shape.append(dim);
    Tensor out = take(component, first.dtype(), shape);
    const auto row_bytes = static_cast<size_t>(first.elements()) * element_bytes(first.dtype());
    for (size_t i = 0; i < elements.size(); ++i) {
      Tensor& row = elements[i][component];
      if (row.shape() != first.shape()) {
        throw invalid_argument(
            "Cannot batch tensors with different shapes in component {}. First element had shape {} and element {} had "
            "shape {}.",
            component, first.shape().str(), i, row.shape().str());
      }
      put_row(row, static_cast<char*>(out.mutable_raw()) + i * row_bytes);
    }
    batch.push_back(std::move(out));
  }
  return batch;
}

Tensor shared_row(const Tensor& tensor, int64_t index) {
  Shape shape;
  for (int i = 1; i < tensor.shape().rank(); ++i) shape.append(tensor.shape()[i]);
  Buffer* buffer = tensor.buffer();
  if (!buffer || tensor.elements() == 0) return Tensor(tensor.dtype(), shape);
  buffer->retain();
  const size_t bytes = static_cast<size_t>(shape.elements()) * element_bytes(tensor.dtype());
  auto* data = const_cast<char*>(static_cast<const char*>(tensor.raw())) + static_cast<size_t>(index) * bytes;
  return Tensor(tensor.dtype(), shape, buffer, data);
}

Tensor shared_rows(const Tensor& tensor, int64_t begin, int64_t end) {
  Shape shape{end - begin};
  for (int i = 1; i < tensor.shape().rank(); ++i) shape.append(tensor.shape()[i]);
  Buffer* buffer = tensor.buffer();
  if (!buffer || shape.elements() == 0) return Tensor(tensor.dtype(), shape);
  buffer->retain();
  const size_t row = static_cast<size_t>(shape.elements() / (end - begin)) * element_bytes(tensor.dtype());
  auto* data = const_cast<char*>(static_cast<const char*>(tensor.raw())) + static_cast<size_t>(begin) * row;
  return Tensor(tensor.dtype(), shape, buffer, data);
}

bool truth_of(const Element& results) {
  if (results.size() != 1 || results[0].dtype() != DType::Bool || results[0].elements() != 1) {
    throw invalid_argument("Filter predicate `predicate` must return a scalar bool.");
  }
  return results[0].scalar<bool>();
}

int64_t common_rows(const Element& components) {
  int64_t rows = -1;
  for (const Tensor& component : components) {
    if (component.shape().rank() < 1) throw invalid_argument("All components must be at least 1-dimensional");
    if (rows >= 0 && component.shape()[0] != rows) {
      throw invalid_argument("All components must have the same size in the 0th dimension");
    }
    rows = component.shape()[0];
  }
  return rows;
}

DatasetPtr dataset_of(const Element& results, std::string_view op) {
  if (results.size() == 1 && results[0].dtype() == DType::Variant && results[0].elements() == 1) {
    const auto& element = *static_cast<const Variant*>(results[0].raw());
    if (auto dataset = std::dynamic_pointer_cast<const Dataset>(element)) return dataset;
  }
  throw invalid_argument("`f` must return a single scalar of dtype DT_VARIANT that is a Dataset object ({})", op);
}

}  // namespace weir::ops

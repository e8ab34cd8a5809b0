#include "weir/tensor_array.h"

#include "base/errors.h"
#include "nn/convert.h"
#include "weir/ops.h"

namespace weir {
namespace {

// A shape as the list operations want it: a vector with -1 for unknown sizes, or -1 alone.
Output sizes(Graph& graph, const Shape& shape) {
  if (!shape.has_rank()) return graph.constant(Tensor(int32_t{-1}));
  std::vector<int32_t> dims;
  for (int64_t size : shape.dims()) dims.push_back(static_cast<int32_t>(size));
  return graph.constant(Tensor(dims));
}

Output as_int32(Graph& graph, const In& value, std::string_view name) {
  return nn::as_output(graph, value, int32, name);
}

Shape rows_of(const Shape& element) {
  if (!element.has_rank()) return Shape::unknown();
  Shape rows{kUnknown};
  for (int64_t size : element.dims()) rows.append(size);
  return rows;
}

Shape element_of(const Shape& rows) {
  if (!rows.has_rank()) return Shape::unknown();
  if (rows.rank() == 0) throw invalid_argument("a scalar has no rows");
  return Shape(rows.dims().subspan(1));
}

// float32, not float: as programs call the type.
std::string plain_name(DType dtype) {
  if (dtype == float16) return "float16";
  if (dtype == float32) return "float32";
  if (dtype == float64) return "float64";
  return std::string(dtype_name(dtype));
}

std::string_view or_else(std::string_view name, std::string_view usual) { return name.empty() ? usual : name; }

}  // namespace

TensorArray::TensorArray(Graph& graph, DType dtype, const TensorArrayOptions& options, std::string_view name)
    : dtype_(dtype),
      dynamic_size_(options.dynamic_size),
      infer_shape_(options.infer_shape),
      element_shape_(std::make_shared<Shape>(options.element_shape)) {
  Scope scope = graph.name_scope(or_else(name, "TensorArray"));
  flow_ = NodeBuilder("TensorListReserve")
              .input(sizes(graph, *element_shape_))
              .input(as_int32(graph, options.size, "size"))
              .attr("element_dtype", dtype)
              .attr("shape_type", int32)
              .output();
}

TensorArray TensorArray::of_rows(const Output& value) {
  TensorArray array;
  array.dtype_ = value.dtype();
  array.element_shape_ = std::make_shared<Shape>(element_of(value.shape()));
  array.flow_ =
      NodeBuilder("TensorListFromTensor").input(value).input(sizes(value.graph(), array.element_shape())).output();
  return array;
}

TensorArray TensorArray::with_flow(const Output& flow) const {
  TensorArray array = *this;
  array.flow_ = flow;
  return array;
}

Output TensorArray::as_element(const In& value) const {
  const Output element = nn::as_output(graph(), value, dtype_, "value");
  if (element.dtype() != dtype_) {
    const std::string have = plain_name(element.dtype()), want = plain_name(dtype_);
    throw wrong_type(
        "Input value {} has dtype {}, but expected dtype {}. (TensorArray dtype is {} but Op is trying to write dtype "
        "{}.)",
        element.name(), have, want, want, have);
  }
  return element;
}

void TensorArray::merge_element_shape(const Shape& shape) const {
  if (!shape.compatible(*element_shape_)) {
    throw invalid_argument("Inconsistent shapes: saw {} but expected {} ", shape.str(), element_shape_->str());
  }
  if (infer_shape_) *element_shape_ = element_shape_->merged(shape);
}

Output TensorArray::grown_to(const Output& count) const {
  return NodeBuilder("TensorListResize").input(flow_).input(maximum(size(), count)).output();
}

Output TensorArray::read(const In& index, std::string_view name) const {
  const Output at = as_int32(graph(), index, "index");
  Output value = NodeBuilder("TensorListGetItem", or_else(name, "TensorArrayReadV3"))
                     .input(flow_)
                     .input(at)
                     .input(sizes(graph(), element_shape()))
                     .attr("element_dtype", dtype_)
                     .output();
  value.set_shape(element_shape());
  return value;
}

TensorArray TensorArray::write(const In& index, const In& value, std::string_view name) const {
  Scope scope = graph().name_scope(or_else(name, "TensorArrayWrite"));
  const Output element = as_element(value);
  merge_element_shape(element.shape());
  const Output at = as_int32(graph(), index, "index");
  const Output flow = dynamic_size_ ? grown_to(at + 1) : flow_;
  return with_flow(NodeBuilder("TensorListSetItem", "TensorArrayWriteV3")
                       .input(flow)
                       .input(at)
                       .input(element)
                       .attr("element_dtype", dtype_)
                       .output());
}

Output TensorArray::stack(std::string_view name) const {
  Scope scope = graph().name_scope(or_else(name, "TensorArrayStack"));
  Output value = NodeBuilder("TensorListStack", "TensorArrayGatherV3")
                     .input(flow_)
                     .input(sizes(graph(), element_shape()))
                     .attr("element_dtype", dtype_)
                     .output();
  value.set_shape(rows_of(element_shape()));
  return value;
}

Output TensorArray::gather(const In& indices, std::string_view name) const {
  Scope scope = graph().name_scope(or_else(name, "TensorArrayGather"));
  Output value = NodeBuilder("TensorListGather", "TensorArrayGatherV3")
                     .input(flow_)
                     .input(as_int32(graph(), indices, "indices"))
                     .input(sizes(graph(), element_shape()))
                     .attr("element_dtype", dtype_)
                     .output();
  value.set_shape(rows_of(element_shape()));
  return value;
}

Output TensorArray::concat(std::string_view name) const {
  Scope scope = graph().name_scope(or_else(name, "TensorArrayConcat"));
  Shape rows = Shape::unknown();
  if (element_shape().has_rank()) {
    rows = element_shape();
    rows.set_dim(0, kUnknown);
  }
  Output value = NodeBuilder("TensorListConcatV2", "TensorArrayConcatV3")
                     .input(flow_)
                     .input(sizes(graph(), infer_shape_ ? element_shape() : rows))
                     .input(graph().constant(Tensor(std::vector<int64_t>{})))
                     .attr("element_dtype", dtype_)
                     .attr("shape_type", int32)
                     .output();
  value.set_shape(rows);
  return value;
}

TensorArray TensorArray::unstack(const In& value, std::string_view name) const {
  Scope scope = graph().name_scope(or_else(name, "TensorArrayUnstack"));
  const Output rows = as_element(value);
  const Output count = subscript(shape(rows), {0});
  return scatter(range(graph(), 0, count), rows);
}

TensorArray TensorArray::scatter(const In& indices, const In& value, std::string_view name) const {
  Scope scope = graph().name_scope(or_else(name, "TensorArrayScatter"));
  const Output rows = as_element(value);
  merge_element_shape(element_of(rows.shape()));
  const Output at = as_int32(graph(), indices, "indices");
  // Of no indices the largest is the smallest number there is, and one more than that is no size.
  const Output flow = dynamic_size_ ? grown_to(maximum(reduce_max(at), -1) + 1) : flow_;
  return with_flow(NodeBuilder("TensorListScatterIntoExistingList", "TensorArrayScatterV3")
                       .input(flow)
                       .input(rows)
                       .input(at)
                       .attr("element_dtype", dtype_)
                       .output());
}

TensorArray TensorArray::split(const In& value, const In& lengths, std::string_view name) const {
  Scope scope = graph().name_scope(or_else(name, "TensorArraySplit"));
  const Output rows = as_element(value);
  const Output counts = cast(nn::as_output(graph(), lengths, int64, "lengths"), int64);
  return with_flow(NodeBuilder("TensorListSplit", "TensorArraySplitV3")
                       .input(rows)
                       .input(sizes(graph(), Shape::unknown()))
                       .input(counts)
                       .attr("shape_type", int32)
                       .output());
}

Output TensorArray::size(std::string_view name) const {
  return NodeBuilder("TensorListLength", or_else(name, "TensorArraySizeV3")).input(flow_).output();
}

}  // namespace weir

#pragma once

#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/types.h"
#include "weir/graph.h"

namespace weir::ops {

// A kernel that moves elements of any type: everything but handles and variants.
template <ComputeFn Fn, class Attr = AttrT>
ComputeFn kernel_moving(const NodeView& node) {
  DType dtype = node.type(Attr::name);
  return dtype == DType::Resource || dtype_size(dtype) == 0 ? nullptr : Fn;
}
struct AttrTparams {
  static constexpr std::string_view name = "Tparams";
};

// Element i of an int32 or int64 input.
inline int64_t int_at(const KernelContext& c, int input, int64_t i = 0) {
  return c.dtype(input) == DType::Int32 ? c.input<int32_t>(input)[i] : c.input<int64_t>(input)[i];
}

// The product of the sizes of dimensions [begin, end).
inline int64_t product(const Shape& shape, int begin, int end) {
  int64_t elements = 1;
  for (int i = begin; i < end; ++i) elements *= shape.dims()[static_cast<size_t>(i)];
  return elements;
}

// Where element i of a tensor of that shape stands, for messages: "[2,0]", or nothing for a scalar.
std::string subscript_of(const Shape& shape, int64_t i);

// The axis of Pack and Unpack, counted from the front. Throws InvalidArgument when it does not fit.
int packed_axis(int64_t axis, int rank);

// An axis that is known to fit.
inline int wrap_axis(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

// An input that says what shape something is to have. Throws InvalidArgument when it is no vector or an entry is
// negative; entries that are not known yet are kUnknown.
Shape shape_argument(InferContext& c, int input);

// The value of a scalar integer input, if it is known. Throws InvalidArgument when it is no scalar.
std::optional<int64_t> scalar_argument(InferContext& c, int input);

// An argument as an output: itself, or a constant of that name in the current scope. A literal takes `dtype`, or the
// type that such a literal has by itself.
Output to_output(Graph& graph, const In& in, std::string_view name, DType dtype = DType::Invalid);
// The graph that one of the arguments belongs to. Throws InvalidArgument when none is an Output.
Graph& graph_of(std::initializer_list<const In*> arguments);
Graph& graph_of(const InList& arguments);

// The function's usual node name, unless the program gave one.
inline std::string_view name_or(std::string_view name, std::string_view usual) { return name.empty() ? usual : name; }

}  // namespace weir::ops

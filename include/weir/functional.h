#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Functions applied along the first dimension of tensors. The function is called once, while the graph is built.
namespace weir {

using Outputs = std::vector<Output>;
using ElementFunction = std::function<Outputs(const Outputs& elements)>;
using FoldFunction = std::function<Outputs(const Outputs& accumulated, const Outputs& elements)>;

struct FunctionalOptions {
  int64_t parallel_iterations = 10;
  bool back_prop = true;
  bool infer_shape = true;  // of map_fn and scan: the results of all elements have one shape
  bool reverse = false;     // of scan: from the last element to the first
  std::string_view name = {};
};

// What `function` gives of each element, stacked. `elements` have one length; `dtypes` are the types of the results, by
// default those of the elements. Throws InvalidArgument for scalars, for other numbers and types of results.
WEIR_API Outputs map_fn(const ElementFunction& function, const InList& elements, const std::vector<DType>& dtypes = {},
                        const FunctionalOptions& options = {});
WEIR_API Output map_fn(const std::function<Output(const Output&)>& function, const In& elements,
                       const FunctionalOptions& options = {});

// function(... function(function(initial, elements[0]), elements[1]) ..., elements[-1]); without an initial value it
// begins with the first element.
WEIR_API Outputs foldl(const FoldFunction& function, const InList& elements, const Outputs& initial = {},
                       const FunctionalOptions& options = {});
// The same from the last element on.
WEIR_API Outputs foldr(const FoldFunction& function, const InList& elements, const Outputs& initial = {},
                       const FunctionalOptions& options = {});
// Every value that foldl goes through, stacked.
WEIR_API Outputs scan(const FoldFunction& function, const InList& elements, const Outputs& initial = {},
                      const FunctionalOptions& options = {});

}  // namespace weir

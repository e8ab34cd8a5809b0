#include "weir/functional.h"

#include "base/errors.h"
#include "nn/control_flow.h"
#include "nn/convert.h"
#include "weir/ops.h"
#include "weir/tensor_array.h"

namespace weir {
namespace {

Graph& graph_among(const InList& values) {
  for (const In& value : values.values()) {
    if (value.output()) return value.output().graph();
  }
  throw invalid_argument("no argument belongs to a graph; make one of them with Graph::constant");
}

// Tensors of one length, read element by element.
class Sequences {
 public:
  Sequences(Graph& graph, const InList& elements) {
    if (elements.values().empty()) throw invalid_argument("elems must hold at least one tensor");
    Shape length{kUnknown};
    Outputs tensors;
    for (const In& value : elements.values()) {
      Output tensor = nn::as_output(graph, value, int32, "elem");
      if (tensor.shape().is_scalar()) {
        if (elements.values().size() == 1)
          throw invalid_argument("elems must be a 1+ dimensional Tensor, not a scalar");
        throw invalid_argument("elements in elems must be 1+ dimensional Tensors, not scalars");
      }
      if (tensor.shape().has_rank()) length = length.merged({tensor.shape()[0]});
      tensors.push_back(tensor);
    }
    static_length_ = length[0];
    // Where lengths differ in a run, the first decides: reading behind the end of another is an error.
    length_ = static_length_ == kUnknown ? subscript(shape(tensors[0]), {0})
                                         : graph.constant(Tensor(int32_t(static_length_)));
    for (const Output& tensor : tensors) arrays_.push_back(TensorArray::of_rows(tensor));
  }

  Outputs at(const Output& index) const {
    Outputs elements;
    for (const TensorArray& array : arrays_) elements.push_back(array.read(index));
    return elements;
  }
  Output length() const { return length_; }
  std::vector<DType> types() const {
    std::vector<DType> types;
    for (const TensorArray& array : arrays_) types.push_back(array.dtype());
    return types;
  }
  // An array as long as the sequences as one tensor.
  Output stacked(const TensorArray& array) const {
    Output result = array.stack();
    if (!result.shape().has_rank()) return result;
    Shape shape = result.shape();
    shape.set_dim(0, static_length_);
    result.set_shape(shape);
    return result;
  }

 private:
  std::vector<TensorArray> arrays_;
  int64_t static_length_ = kUnknown;
  Output length_;
};

void require_count(size_t have, size_t want, const char* what) {
  if (have != want) throw invalid_argument("the function gives {} tensors, but {} has {}", have, what, want);
}

WhileOptions loop_options(const FunctionalOptions& options) {
  return {.parallel_iterations = options.parallel_iterations, .back_prop = options.back_prop};
}

std::string_view or_else(std::string_view name, std::string_view usual) { return name.empty() ? usual : name; }

// Runs body(i, variables) for i from `first` up to the length.
Outputs for_each(Graph& graph, const Sequences& sequences, int first, const Outputs& initial,
                 const std::function<Outputs(const Output& i, const Outputs& now)>& body,
                 const FunctionalOptions& options) {
  std::vector<In> variables{graph.constant(Tensor(int32_t(first)))};
  variables.insert(variables.end(), initial.begin(), initial.end());
  const Output end = sequences.length();
  Outputs last = nn::while_loop(
      graph, [&](const Outputs& now) { return less(now[0], end); },
      [&](const Outputs& now) {
        Outputs next = body(now[0], Outputs(now.begin() + 1, now.end()));
        next.insert(next.begin(), now[0] + 1);
        return next;
      },
      variables, loop_options(options), In::Where::current());
  last.erase(last.begin());
  return last;
}

Outputs fold(const FoldFunction& function, const InList& elements, const Outputs& initial,
             const FunctionalOptions& options, const char* usual_name, bool backwards) {
  Graph& graph = graph_among(elements);
  Scope scope = graph.name_scope(or_else(options.name, usual_name));
  const Sequences sequences(graph, elements);
  const Output length = sequences.length();
  auto at = [&](const Output& i) { return sequences.at(backwards ? length - 1 - i : i); };
  const bool given = !initial.empty();
  const Outputs first = given ? initial : at(graph.constant(Tensor(int32_t{0})));
  return for_each(
      graph, sequences, given ? 0 : 1, first,
      [&](const Output& i, const Outputs& now) {
        Outputs next = function(now, at(i));
        require_count(next.size(), first.size(), "what it begins with");
        return next;
      },
      options);
}

}  // namespace

Outputs map_fn(const ElementFunction& function, const InList& elements, const std::vector<DType>& dtypes,
               const FunctionalOptions& options) {
  Graph& graph = graph_among(elements);
  Scope scope = graph.name_scope(or_else(options.name, "map"));
  const Sequences sequences(graph, elements);
  std::vector<TensorArray> arrays;
  Outputs flows;
  for (DType dtype : dtypes.empty() ? sequences.types() : dtypes) {
    arrays.emplace_back(graph, dtype,
                        TensorArrayOptions{.size = sequences.length(), .infer_shape = options.infer_shape});
    flows.push_back(arrays.back().flow());
  }
  flows = for_each(
      graph, sequences, 0, flows,
      [&](const Output& i, const Outputs& now) {
        const Outputs values = function(sequences.at(i));
        require_count(values.size(), arrays.size(), "its result");
        Outputs next;
        for (size_t k = 0; k < values.size(); ++k) {
          next.push_back(arrays[k].with_flow(now[k]).write(i, values[k]).flow());
        }
        return next;
      },
      options);
  Outputs results;
  for (size_t k = 0; k < arrays.size(); ++k) results.push_back(sequences.stacked(arrays[k].with_flow(flows[k])));
  return results;
}

Output map_fn(const std::function<Output(const Output&)>& function, const In& elements,
              const FunctionalOptions& options) {
  return map_fn([&](const Outputs& element) { return Outputs{function(element[0])}; }, InList{elements}, {},
                options)[0];
}

Outputs foldl(const FoldFunction& function, const InList& elements, const Outputs& initial,
              const FunctionalOptions& options) {
  return fold(function, elements, initial, options, "foldl", false);
}

Outputs foldr(const FoldFunction& function, const InList& elements, const Outputs& initial,
              const FunctionalOptions& options) {
  return fold(function, elements, initial, options, "foldr", true);
}

Outputs scan(const FoldFunction& function, const InList& elements, const Outputs& initial,
             const FunctionalOptions& options) {
  Graph& graph = graph_among(elements);
  Scope scope = graph.name_scope(or_else(options.name, "scan"));
  const Sequences sequences(graph, elements);
  const Output length = sequences.length();
  auto place = [&](const Output& i) { return options.reverse ? length - 1 - i : i; };
  const bool given = !initial.empty();
  const Output zero = graph.constant(Tensor(int32_t{0}));
  const Outputs first = given ? initial : sequences.at(place(zero));
  std::vector<TensorArray> arrays;
  Outputs variables = first;
  for (const Output& value : first) {
    TensorArray array(graph, value.dtype(),
                      {.size = length,
                       .element_shape = options.infer_shape ? value.shape() : Shape::unknown(),
                       .infer_shape = options.infer_shape});
    arrays.push_back(given ? array : array.write(place(zero), value));
    variables.push_back(arrays.back().flow());
  }
  const size_t count = first.size();
  variables = for_each(
      graph, sequences, given ? 0 : 1, variables,
      [&](const Output& i, const Outputs& now) {
        Outputs next =
            function(Outputs(now.begin(), now.begin() + static_cast<ptrdiff_t>(count)), sequences.at(place(i)));
        require_count(next.size(), count, "what it begins with");
        for (size_t k = 0; k < count; ++k) {
          next.push_back(arrays[k].with_flow(now[count + k]).write(place(i), next[k]).flow());
        }
        return next;
      },
      options);
  Outputs results;
  for (size_t k = 0; k < count; ++k) results.push_back(sequences.stacked(arrays[k].with_flow(variables[count + k])));
  return results;
}

}  // namespace weir

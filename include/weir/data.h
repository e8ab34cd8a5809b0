#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Input pipelines, as tf.data has them: a Dataset describes how elements are made, an Iterator gives them to steps.
//
//   auto images = data::tf_records(g, files)
//                     .map([](Output record) { return read_example(record); }, {.num_parallel_calls = 4})
//                     .shuffle(10000, {.seed = 1})
//                     .repeat()
//                     .batch(128)
//                     .prefetch(2);
//   auto [image, label] = images.one_shot_iterator().get_next<2>();
//
// The functions are called once, while the graph is built, with placeholders; what they make is run by the pipeline's
// threads. They may read tensors of the graph around them, whose values are taken when the iterator is initialised.
// Pipelines end with their session. Everything here throws as Graph::add does.
namespace weir::data {

using Element = std::vector<Output>;  // the components

namespace detail {

inline Element to_element(const Output& output) { return {output}; }
inline Element to_element(Element element) { return element; }
template <size_t N>
Element to_element(const std::array<Output, N>& element) {
  return {element.begin(), element.end()};
}
template <class... T>
Element to_element(const std::tuple<T...>& element) {
  return std::apply([](const auto&... parts) { return Element{parts...}; }, element);
}
template <class A, class B>
Element to_element(const std::pair<A, B>& element) {
  return {element.first, element.second};
}

// Calls f with the components as arguments, or with all of them as one.
template <class F>
auto call(F& f, const Element& e) {
  if constexpr (std::is_invocable_v<F&, const Element&>) {
    return f(e);
  } else if constexpr (std::is_invocable_v<F&, Output>) {
    return f(e.at(0));
  } else if constexpr (std::is_invocable_v<F&, Output, Output>) {
    return f(e.at(0), e.at(1));
  } else if constexpr (std::is_invocable_v<F&, Output, Output, Output>) {
    return f(e.at(0), e.at(1), e.at(2));
  } else {
    return f(e.at(0), e.at(1), e.at(2), e.at(3));
  }
}

}  // namespace detail

class Dataset;

// Where steps get elements from.
class WEIR_API Iterator {
 public:
  // One that takes elements of any data set of these types and shapes: make_initializer() gives it one.
  static Iterator from_structure(Graph& graph, std::vector<DType> types, std::vector<Shape> shapes,
                                 std::string_view shared_name = {});
  // The one whose string_handle() is fed.
  static Iterator from_string_handle(const In& handle, std::vector<DType> types, std::vector<Shape> shapes);

  // The next element, another one in every run. Runs throw OutOfRange ("End of sequence") after the last, and
  // FailedPrecondition before the initializer has run.
  Element get_next(std::string_view name = {}) const;
  template <size_t N>
  std::array<Output, N> get_next() const {
    const Element element = get_next();
    std::array<Output, N> parts;
    for (size_t i = 0; i < N; ++i) parts[i] = element.at(i);
    return parts;
  }
  // Begins at the first element again. Empty for one-shot iterators and those without a data set.
  Operation initializer() const { return initializer_; }
  Operation make_initializer(const Dataset& dataset) const;
  Output string_handle() const;

 private:
  friend class Dataset;
  Output resource_;
  Operation initializer_;
  std::vector<DType> types_;
  std::vector<Shape> shapes_;
};

struct MapOptions {
  std::optional<In> num_parallel_calls = {};  // at a time, in threads of their own; -1: as many as processors
};
struct BatchOptions {
  bool drop_remainder = false;  // of a last batch with fewer elements
};
struct PaddedBatchOptions {
  std::vector<Shape> shapes = {};   // of each component; sizes that are not known follow the largest element. {}: the
                                    // elements' own
  std::vector<Tensor> values = {};  // what to pad with; {}: zeros and empty strings
  bool drop_remainder = false;
};
struct ShuffleOptions {
  std::optional<int64_t> seed = {};
  bool reshuffle_each_iteration = true;
};
struct InterleaveOptions {
  int64_t cycle_length = 1, block_length = 1;
  std::optional<int64_t> num_parallel_calls = {};
};
struct WindowOptions {
  std::optional<int64_t> shift = {};  // as large as the window
  int64_t stride = 1;
  bool drop_remainder = false;
};

// A description of a sequence of elements; a cheap handle to a node of its graph.
class WEIR_API Dataset {
 public:
  Dataset(Output variant, std::vector<DType> types, std::vector<Shape> shapes);

  // One element; its rows as elements; numbers.
  static Dataset from_tensors(Graph& graph, const InList& components);
  static Dataset from_tensor_slices(Graph& graph, const InList& components);
  static Dataset range(Graph& graph, const In& stop);
  static Dataset range(Graph& graph, const In& start, const In& stop, const In& step = 1);
  // Elements side by side, until the shortest ends.
  static Dataset zip(const std::vector<Dataset>& datasets);

  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  Output variant() const { return variant_; }

  template <class F>
  Dataset map(F f, const MapOptions& options = {}) const {
    return map_elements([&](const Element& e) { return detail::to_element(detail::call(f, e)); }, options);
  }
  template <class F>
  Dataset filter(F predicate) const {
    return filter_elements([&](const Element& e) { return detail::to_element(detail::call(predicate, e)); });
  }
  // f gives data sets, whose elements follow each other, or take turns.
  template <class F>
  Dataset flat_map(F f) const {
    return expand([&](const Element& e) { return detail::call(f, e); }, std::nullopt);
  }
  template <class F>
  Dataset interleave(F f, const InterleaveOptions& options = {}) const {
    return expand([&](const Element& e) { return detail::call(f, e); }, options);
  }
  // f(state and element) gives the next state; the value is the last.
  Element reduce(const InList& initial_state,
                 const std::function<Element(const Element& state, const Element&)>& f) const;
  // f gives the next state followed by an element.
  Dataset scan(const InList& initial_state,
               const std::function<std::pair<Element, Element>(const Element& state, const Element&)>& f) const;

  Dataset batch(const In& size, const BatchOptions& options = {}) const;
  Dataset padded_batch(const In& size, const PaddedBatchOptions& options = {}) const;
  Dataset unbatch() const;
  Dataset shuffle(const In& buffer_size, const ShuffleOptions& options = {}) const;
  Dataset repeat(const In& count = -1) const;
  Dataset take(const In& count) const;
  Dataset skip(const In& count) const;
  Dataset shard(const In& shards, const In& index) const;
  Dataset prefetch(const In& buffer_size) const;
  Dataset cache(std::string_view path = {}) const;  // in memory, or in a file
  Dataset concatenate(const Dataset& other) const;
  Dataset enumerate(int64_t start = 0) const;
  Dataset ignore_errors() const;
  // Every element is a data set for each component.
  Dataset window(int64_t size, const WindowOptions& options = {}) const;

  // Begins by itself, and cannot begin again; no variables, tables or placeholders may be part of the pipeline.
  Iterator one_shot_iterator() const;
  Iterator initializable_iterator(std::string_view shared_name = {}) const;

 private:
  friend class Iterator;
  using ElementFunction = std::function<Element(const Element&)>;
  using DatasetFunction = std::function<Dataset(const Element&)>;
  Dataset map_elements(const ElementFunction& f, const MapOptions& options) const;
  Dataset filter_elements(const ElementFunction& predicate) const;
  Dataset expand(const DatasetFunction& f, const std::optional<InterleaveOptions>& options) const;
  Dataset unary(std::string_view op, const std::vector<In>& arguments) const;

  Output variant_;
  std::vector<DType> types_;
  std::vector<Shape> shapes_;
};

struct FileOptions {
  std::string_view compression = {};               // "", "ZLIB" or "GZIP"
  int64_t buffer_bytes = 256 << 10;                // read at once
  std::optional<int64_t> num_parallel_reads = {};  // files at a time, whose records take turns
};
// The records, or lines, of files as strings.
WEIR_API Dataset tf_records(Graph& graph, const In& paths, const FileOptions& options = {});
WEIR_API Dataset text_lines(Graph& graph, const In& paths, const FileOptions& options = {});
struct FixedLengthOptions {
  int64_t header_bytes = 0, footer_bytes = 0;
  FileOptions files = {};
};
WEIR_API Dataset fixed_length_records(Graph& graph, const In& paths, int64_t record_bytes,
                                      const FixedLengthOptions& options = {});
// The names of the files that match a pattern, when the iteration begins.
WEIR_API Dataset list_files(Graph& graph, const In& pattern, bool shuffle = true, std::optional<int64_t> seed = {});

}  // namespace weir::data

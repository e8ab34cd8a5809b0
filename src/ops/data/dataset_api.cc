#include "base/errors.h"
#include "graph/bodies.h"
#include "graph/functions.h"
#include "weir/data.h"
#include "weir/ops.h"

namespace weir::data {
namespace {

std::vector<FunctionArgument> arguments_of(const std::vector<DType>& types, const std::vector<Shape>& shapes) {
  std::vector<FunctionArgument> arguments;
  for (size_t i = 0; i < types.size(); ++i) arguments.push_back({types[i], shapes[i]});
  return arguments;
}

std::vector<DType> types_of(const Element& element) {
  std::vector<DType> types;
  for (const Output& component : element) types.push_back(component.dtype());
  return types;
}

std::vector<Shape> shapes_of(const Element& element) {
  std::vector<Shape> shapes;
  for (const Output& component : element) shapes.push_back(component.shape());
  return shapes;
}

Shape row_shape(const Shape& shape) {
  if (!shape.has_rank()) return shape;
  if (shape.rank() == 0) throw invalid_argument("Unbatching a tensor is only supported for rank >= 1");
  const auto dims = shape.dims();
  return Shape(std::vector<int64_t>(dims.begin() + 1, dims.end()));
}

Shape batch_shape(int64_t size, const Shape& shape) {
  if (!shape.has_rank()) return shape;
  Shape batch{size};
  for (int64_t dim : shape.dims()) batch.append(dim);
  return batch;
}

// A node that gives a data set of these elements.
Dataset made(NodeBuilder& node, std::vector<DType> types, std::vector<Shape> shapes) {
  node.attr("output_types", types).attr("output_shapes", shapes);
  return {node.output(), std::move(types), std::move(shapes)};
}

FunctionName named(const TracedFunction& f) { return {f.name, {}}; }

NodeBuilder& calling(NodeBuilder& node, const TracedFunction& f) {
  for (const Operation& wait : f.captures.waits) node.control_input(wait);
  return node;
}

// Batches that are all as large as this; kUnknown when the last may be smaller.
int64_t known_size(const In& size, bool drop_remainder) {
  if (!drop_remainder) return kUnknown;
  const Tensor value = size.output() ? constant_value(size.output()) : size.value();
  return value.valid() ? value.scalar<int64_t>() : kUnknown;
}

std::vector<Output> components_in(Graph& graph, const InList& list) {
  std::vector<Output> components;
  for (const In& in : list.values()) {
    components.push_back(
        in.output() ? in.output()
        : in.weak() ? graph.constant(convert_literal(in.value(), default_literal_type(in.value())), {}, in.where())
                    : graph.constant(in.value(), {}, in.where()));
  }
  return components;
}

}  // namespace

Dataset::Dataset(Output variant, std::vector<DType> types, std::vector<Shape> shapes)
    : variant_(variant), types_(std::move(types)), shapes_(std::move(shapes)) {}

Dataset Dataset::from_tensors(Graph& graph, const InList& components) {
  const std::vector<Output> parts = components_in(graph, components);
  NodeBuilder node("TensorDataset");
  node.graph(graph).input(InList(parts)).attr("output_shapes", shapes_of(parts));
  return {node.output(), types_of(parts), shapes_of(parts)};
}

Dataset Dataset::from_tensor_slices(Graph& graph, const InList& components) {
  const std::vector<Output> parts = components_in(graph, components);
  std::vector<Shape> rows;
  for (const Output& part : parts) rows.push_back(row_shape(part.shape()));
  NodeBuilder node("TensorSliceDataset");
  node.graph(graph).input(InList(parts)).attr("output_shapes", rows);
  return {node.output(), types_of(parts), std::move(rows)};
}

Dataset Dataset::range(Graph& graph, const In& stop) { return range(graph, 0, stop, 1); }

Dataset Dataset::range(Graph& graph, const In& start, const In& stop, const In& step) {
  NodeBuilder node("RangeDataset");
  node.graph(graph).input(start).input(stop).input(step);
  return made(node, {DType::Int64}, {Shape{}});
}

Dataset Dataset::zip(const std::vector<Dataset>& datasets) {
  std::vector<Output> variants;
  std::vector<DType> types;
  std::vector<Shape> shapes;
  for (const Dataset& dataset : datasets) {
    variants.push_back(dataset.variant_);
    types.insert(types.end(), dataset.types_.begin(), dataset.types_.end());
    shapes.insert(shapes.end(), dataset.shapes_.begin(), dataset.shapes_.end());
  }
  NodeBuilder node("ZipDataset");
  node.input(InList(variants));
  return made(node, std::move(types), std::move(shapes));
}

Dataset Dataset::unary(std::string_view op, const std::vector<In>& arguments) const {
  NodeBuilder node(op);
  node.input(variant_);
  for (const In& argument : arguments) node.input(argument);
  return made(node, types_, shapes_);
}

Dataset Dataset::map_elements(const ElementFunction& f, const MapOptions& options) const {
  const TracedFunction traced = trace_function(variant_.graph(), "Dataset_map", arguments_of(types_, shapes_), f);
  NodeBuilder node(options.num_parallel_calls ? "ParallelMapDataset" : "MapDataset");
  node.input(variant_).input(InList(traced.captures.tensors)).attr("f", named(traced));
  if (options.num_parallel_calls) node.input(*options.num_parallel_calls);
  return made(calling(node, traced), types_of(traced.results), shapes_of(traced.results));
}

Dataset Dataset::filter_elements(const ElementFunction& predicate) const {
  const TracedFunction traced =
      trace_function(variant_.graph(), "Dataset_filter", arguments_of(types_, shapes_), predicate);
  if (traced.results.size() != 1 || traced.results[0].dtype() != DType::Bool) {
    throw invalid_argument("`predicate` return type must be convertible to a scalar boolean tensor.");
  }
  NodeBuilder node("FilterDataset");
  node.input(variant_).input(InList(traced.captures.tensors)).attr("predicate", named(traced));
  return made(calling(node, traced), types_, shapes_);
}

Dataset Dataset::expand(const DatasetFunction& f, const std::optional<InterleaveOptions>& options) const {
  std::optional<Dataset> inner;
  const TracedFunction traced = trace_function(variant_.graph(), options ? "Dataset_interleave" : "Dataset_flat_map",
                                               arguments_of(types_, shapes_), [&](const Element& element) {
                                                 inner.emplace(f(element));
                                                 return Element{inner->variant_};
                                               });
  NodeBuilder node(!options                      ? "FlatMapDataset"
                   : options->num_parallel_calls ? "ParallelInterleaveDatasetV2"
                                                 : "InterleaveDataset");
  node.input(variant_).input(InList(traced.captures.tensors)).attr("f", named(traced));
  if (options) node.input(options->cycle_length).input(options->block_length);
  if (options && options->num_parallel_calls) node.input(*options->num_parallel_calls);
  return made(calling(node, traced), inner->types_, inner->shapes_);
}

namespace {

// A function of a state and an element, traced until it gives states of the shapes that it gets.
TracedFunction trace_stateful(Graph& graph, std::string_view name, const Element& initial, std::vector<Shape>& states,
                              const std::vector<DType>& types, const std::vector<Shape>& shapes,
                              const std::function<Element(const Element&, const Element&)>& f) {
  for (;;) {
    std::vector<FunctionArgument> arguments = arguments_of(types_of(initial), states);
    for (const FunctionArgument& argument : arguments_of(types, shapes)) arguments.push_back(argument);
    TracedFunction traced = trace_function(graph, name, arguments, [&](const Element& all) {
      const auto middle = all.begin() + static_cast<std::ptrdiff_t>(initial.size());
      return f(Element(all.begin(), middle), Element(middle, all.end()));
    });
    if (traced.results.size() < initial.size()) {
      throw invalid_argument("the function gives {} tensors; the state has {}", traced.results.size(), initial.size());
    }
    bool holds = true;
    for (size_t i = 0; i < initial.size(); ++i) {
      if (traced.results[i].dtype() != initial[i].dtype()) {
        throw wrong_type("The element types for the new state must match the initial state. Expected {}; got {}.",
                         dtype_name(initial[i].dtype()), dtype_name(traced.results[i].dtype()));
      }
      Shape common = common_shape(states[i], traced.results[i].shape());
      holds = holds && common == states[i];
      states[i] = std::move(common);
    }
    if (holds) return traced;
  }
}

}  // namespace

Element Dataset::reduce(const InList& initial_state,
                        const std::function<Element(const Element& state, const Element&)>& f) const {
  Graph& graph = variant_.graph();
  const Element initial = components_in(graph, initial_state);
  std::vector<Shape> states = shapes_of(initial);
  const TracedFunction traced = trace_stateful(graph, "Dataset_reduce", initial, states, types_, shapes_, f);
  NodeBuilder node("ReduceDataset");
  node.input(variant_).input(InList(initial)).input(InList(traced.captures.tensors)).attr("f", named(traced));
  node.attr("output_types", types_of(initial)).attr("output_shapes", states);
  const Operation op = calling(node, traced).build();
  Element result;
  for (int i = 0; i < op.outputs(); ++i) result.push_back(op.output(i));
  return result;
}

Dataset Dataset::scan(const InList& initial_state,
                      const std::function<std::pair<Element, Element>(const Element& state, const Element&)>& f) const {
  Graph& graph = variant_.graph();
  const Element initial = components_in(graph, initial_state);
  std::vector<Shape> states = shapes_of(initial);
  const TracedFunction traced = trace_stateful(graph, "Dataset_scan", initial, states, types_, shapes_,
                                               [&](const Element& state, const Element& e) {
                                                 auto [next, element] = f(state, e);
                                                 next.insert(next.end(), element.begin(), element.end());
                                                 return next;
                                               });
  const Element given(traced.results.begin() + static_cast<std::ptrdiff_t>(initial.size()), traced.results.end());
  NodeBuilder node("ScanDataset");
  node.input(variant_).input(InList(initial)).input(InList(traced.captures.tensors)).attr("f", named(traced));
  return made(calling(node, traced), types_of(given), shapes_of(given));
}

Dataset Dataset::batch(const In& size, const BatchOptions& options) const {
  std::vector<Shape> shapes;
  for (const Shape& shape : shapes_) shapes.push_back(batch_shape(known_size(size, options.drop_remainder), shape));
  NodeBuilder node("BatchDatasetV2");
  node.input(variant_).input(size).input(Tensor(options.drop_remainder));
  return made(node, types_, std::move(shapes));
}

Dataset Dataset::padded_batch(const In& size, const PaddedBatchOptions& options) const {
  Graph& graph = variant_.graph();
  const std::vector<Shape>& wanted = options.shapes.empty() ? shapes_ : options.shapes;
  if (wanted.size() != types_.size() || (!options.values.empty() && options.values.size() != types_.size())) {
    throw invalid_argument("{} padded shapes and {} padding values are given for {} components", wanted.size(),
                           options.values.size(), types_.size());
  }
  std::vector<Output> padded, values;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < types_.size(); ++i) {
    if (!wanted[i].has_rank())
      throw invalid_argument("the rank of component {} is not known: give its padded shape", i);
    const auto dims = wanted[i].dims();
    padded.push_back(graph.constant(Tensor(std::vector<int64_t>(dims.begin(), dims.end()))));
    values.push_back(graph.constant(options.values.empty() ? Tensor::zeros(types_[i], {}) : options.values[i]));
    shapes.push_back(batch_shape(known_size(size, options.drop_remainder), wanted[i]));
  }
  NodeBuilder node("PaddedBatchDatasetV2");
  node.input(variant_).input(size).input(InList(padded)).input(InList(values)).input(Tensor(options.drop_remainder));
  node.attr("output_shapes", shapes);
  return {node.output(), types_, std::move(shapes)};
}

Dataset Dataset::unbatch() const {
  std::vector<Shape> shapes;
  for (const Shape& shape : shapes_) shapes.push_back(row_shape(shape));
  NodeBuilder node("UnbatchDataset");
  node.input(variant_);
  return made(node, types_, std::move(shapes));
}

Dataset Dataset::shuffle(const In& buffer_size, const ShuffleOptions& options) const {
  const Seeds seeds = variant_.graph().next_seeds(options.seed);
  NodeBuilder node("ShuffleDataset");
  node.input(variant_).input(buffer_size).input(seeds.seed).input(seeds.seed2);
  node.attr("reshuffle_each_iteration", options.reshuffle_each_iteration);
  return made(node, types_, shapes_);
}

Dataset Dataset::repeat(const In& count) const { return unary("RepeatDataset", {count}); }
Dataset Dataset::take(const In& count) const { return unary("TakeDataset", {count}); }
Dataset Dataset::skip(const In& count) const { return unary("SkipDataset", {count}); }
Dataset Dataset::shard(const In& shards, const In& index) const { return unary("ShardDataset", {shards, index}); }
Dataset Dataset::prefetch(const In& buffer_size) const { return unary("PrefetchDataset", {buffer_size}); }
Dataset Dataset::cache(std::string_view path) const { return unary("CacheDataset", {In(std::string(path))}); }
Dataset Dataset::ignore_errors() const { return unary("IgnoreErrorsDataset", {}); }

Dataset Dataset::concatenate(const Dataset& other) const {
  if (types_ != other.types_) throw wrong_type("Two datasets to concatenate have different types");
  std::vector<Shape> shapes;
  for (size_t i = 0; i < shapes_.size(); ++i) shapes.push_back(common_shape(shapes_[i], other.shapes_[i]));
  NodeBuilder node("ConcatenateDataset");
  node.input(variant_).input(other.variant_);
  return made(node, types_, std::move(shapes));
}

Dataset Dataset::enumerate(int64_t start) const { return zip({range(variant_.graph(), start, INT64_MAX), *this}); }

Dataset Dataset::window(int64_t size, const WindowOptions& options) const {
  NodeBuilder node("WindowDataset");
  node.input(variant_).input(size).input(options.shift.value_or(size)).input(options.stride);
  node.input(Tensor(options.drop_remainder));
  return made(node, std::vector<DType>(types_.size(), DType::Variant), std::vector<Shape>(types_.size()));
}

Iterator Dataset::one_shot_iterator() const {
  Graph& graph = variant_.graph();
  const std::string factory = copy_into_function(variant_, "_make_dataset", [](const Output& copy) { return copy; });
  Iterator iterator;
  iterator.resource_ = NodeBuilder("OneShotIterator")
                           .graph(graph)
                           .attr("dataset_factory", FunctionName{factory, {}})
                           .attr("output_types", types_)
                           .attr("output_shapes", shapes_)
                           .output();
  iterator.types_ = types_;
  iterator.shapes_ = shapes_;
  return iterator;
}

Iterator Dataset::initializable_iterator(std::string_view shared_name) const {
  Iterator iterator = Iterator::from_structure(variant_.graph(), types_, shapes_, shared_name);
  iterator.initializer_ = iterator.make_initializer(*this);
  return iterator;
}

Iterator Iterator::from_structure(Graph& graph, std::vector<DType> types, std::vector<Shape> shapes,
                                  std::string_view shared_name) {
  Iterator iterator;
  iterator.resource_ = NodeBuilder("IteratorV2")
                           .graph(graph)
                           .attr("container", std::string())
                           .attr("shared_name", std::string(shared_name))
                           .attr("output_types", types)
                           .attr("output_shapes", shapes)
                           .output();
  iterator.types_ = std::move(types);
  iterator.shapes_ = std::move(shapes);
  return iterator;
}

Iterator Iterator::from_string_handle(const In& handle, std::vector<DType> types, std::vector<Shape> shapes) {
  Iterator iterator;
  iterator.resource_ = NodeBuilder("IteratorFromStringHandleV2")
                           .input(handle)
                           .attr("output_types", types)
                           .attr("output_shapes", shapes)
                           .output();
  iterator.types_ = std::move(types);
  iterator.shapes_ = std::move(shapes);
  return iterator;
}

Element Iterator::get_next(std::string_view name) const {
  const Operation op = NodeBuilder("IteratorGetNext", name)
                           .input(resource_)
                           .attr("output_types", types_)
                           .attr("output_shapes", shapes_)
                           .build();
  Element element;
  for (int i = 0; i < op.outputs(); ++i) element.push_back(op.output(i));
  return element;
}

Operation Iterator::make_initializer(const Dataset& dataset) const {
  return NodeBuilder("MakeIterator").input(dataset.variant()).input(resource_).build();
}

Output Iterator::string_handle() const { return NodeBuilder("IteratorToStringHandle").input(resource_).output(); }

namespace {

Dataset read_files(Graph& graph, const In& paths, const FileOptions& options,
                   const std::function<Output(const Output&)>& read) {
  Output names = paths.output() ? paths.output() : graph.constant(paths.value(), "filenames", paths.where());
  const Dataset files = Dataset::from_tensor_slices(graph, {reshape(names, {-1})});
  auto one = [&](Output path) { return Dataset(read(path), {DType::String}, {Shape{}}); };
  if (!options.num_parallel_reads) return files.flat_map(one);
  return files.interleave(
      one, {.cycle_length = *options.num_parallel_reads, .num_parallel_calls = *options.num_parallel_reads});
}

}  // namespace

Dataset tf_records(Graph& graph, const In& paths, const FileOptions& options) {
  return read_files(graph, paths, options, [&](const Output& path) {
    return NodeBuilder("TFRecordDataset")
        .input(path)
        .input(std::string(options.compression))
        .input(options.buffer_bytes)
        .output();
  });
}

Dataset text_lines(Graph& graph, const In& paths, const FileOptions& options) {
  return read_files(graph, paths, options, [&](const Output& path) {
    return NodeBuilder("TextLineDataset")
        .input(path)
        .input(std::string(options.compression))
        .input(options.buffer_bytes)
        .output();
  });
}

Dataset fixed_length_records(Graph& graph, const In& paths, int64_t record_bytes, const FixedLengthOptions& options) {
  return read_files(graph, paths, options.files, [&](const Output& path) {
    return NodeBuilder("FixedLengthRecordDatasetV2")
        .input(path)
        .input(options.header_bytes)
        .input(record_bytes)
        .input(options.footer_bytes)
        .input(options.files.buffer_bytes)
        .input(std::string(options.files.compression))
        .output();
  });
}

Dataset list_files(Graph& graph, const In& pattern, bool shuffle, std::optional<int64_t> seed) {
  NodeBuilder node("MatchingFilesDataset");
  node.graph(graph).input(pattern);
  const Dataset files(node.output(), {DType::String}, {Shape{}});
  constexpr int64_t kAll = 1 << 20;  // names that are drawn from
  return shuffle ? files.shuffle(kAll, {.seed = seed}) : files;
}

}  // namespace weir::data

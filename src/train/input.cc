#include "base/errors.h"
#include "graph/node.h"
#include "train/input_nodes.h"
#include "weir/control_flow.h"
#include "weir/control_ops.h"
#include "weir/ops.h"
#include "weir/summary.h"

namespace weir::train {
namespace {

// The name of an operation on a queue: "input_producer_EnqueueMany".
std::string operation_name(const QueueBase& queue, std::string_view what) {
  return queue.name().substr(queue.name().rfind('/') + 1) + std::string(what);
}

void summarize_fill(const QueueBase& queue, const std::string& name, int64_t capacity) {
  const Output size = cast(queue.size(operation_name(queue, "_Size")), float32);
  summary::scalar(name, size * (1.f / static_cast<float>(capacity)));
}

std::string fill_name(int64_t capacity) { return fmt::format("fraction_of_{}_full", capacity); }

// A value as a node of the graph, named as TensorFlow's convert_to_tensor names it.
Output as_output(Graph& graph, const In& value, std::string_view name = {}) {
  if (value.output()) return value.output();
  return graph.constant(value.value(), name, value.where());
}

Operation enqueue(const QueueBase& queue, const std::vector<Output>& tensors, bool many) {
  return many ? queue.enqueue_many(tensors, operation_name(queue, "_EnqueueMany"))
              : queue.enqueue(tensors, operation_name(queue, "_enqueue"));
}

// Enqueues what is to be kept: all, or nothing, or some rows.
Operation enqueue_kept(Graph& graph, const QueueBase& queue, const std::vector<Output>& tensors,
                       const BatchSpec& spec) {
  if (spec.keep_input.shape().rank() == 1) {
    const Output choice = cast(spec.keep_input, int32);
    std::vector<Output> kept;
    for (const Output& tensor : tensors) {
      kept.push_back(
          NodeBuilder("DynamicPartition").input(tensor).input(choice).attr("num_partitions", int64_t{2}).output(1));
    }
    return enqueue(queue, kept, spec.enqueue_many);
  }
  const Tensor known = constant_value(spec.keep_input);
  auto put = [&] { return enqueue(queue, tensors, spec.enqueue_many); };
  auto nothing = [&] { return graph.no_op(); };
  if (known.valid()) return known.scalar<bool>() ? put() : nothing();
  return cond(spec.keep_input, std::function<Operation()>(put), std::function<Operation()>(nothing));
}

std::vector<DType> common_types(const std::vector<std::vector<Output>>& sources) {
  std::vector<DType> types;
  for (const Output& tensor : sources[0]) types.push_back(tensor.dtype());
  for (const auto& source : sources) {
    std::vector<DType> others;
    for (const Output& tensor : source) others.push_back(tensor.dtype());
    if (others != types) throw invalid_argument("Expected types to be consistent between the sources of a batch");
  }
  return types;
}

// The shapes of the first source, which those of the others must fit, without the rows of batches.
std::vector<Shape> common_shapes(const BatchSpec& spec) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < spec.sources[0].size(); ++i) {
    Shape first = Shape::unknown();
    for (const auto& source : spec.sources) {
      Shape shape = source[i].shape();
      if (!shape.has_rank()) throw invalid_argument("Cannot infer Tensor's rank: {}", source[i].name());
      if (spec.enqueue_many) {
        if (shape.rank() == 0) throw invalid_argument("Shape [] of '{}' must have rank at least 1", source[i].name());
        shape = Shape(shape.dims().subspan(1));
      }
      if (!first.has_rank()) first = shape;
      first.merged(shape);  // throws when they contradict each other
    }
    if (!spec.dynamic_pad && !first.is_known()) {
      throw invalid_argument("All shapes must be fully defined: {} of '{}'", first.str(), spec.sources[0][i].name());
    }
    shapes.push_back(first);
  }
  return shapes;
}

QueueBase make_queue(Graph& graph, const BatchSpec& spec) {
  const std::vector<DType> types = common_types(spec.sources);
  QueueOptions options{.capacity = spec.capacity,
                       .shapes = spec.shapes ? *spec.shapes : common_shapes(spec),
                       .shared_name = spec.shared_name};
  if (spec.min_after_dequeue) {
    return RandomShuffleQueue(graph, types, {options, *spec.min_after_dequeue, spec.seed});
  }
  return spec.dynamic_pad ? QueueBase(PaddingFifoQueue(graph, types, options))
                          : QueueBase(FifoQueue(graph, types, options));
}

void summarize_batch(const QueueBase& queue, const BatchSpec& spec) {
  if (!spec.min_after_dequeue) return summarize_fill(queue, fill_name(spec.capacity), spec.capacity);
  const int64_t stays = *spec.min_after_dequeue;
  const auto least = static_cast<int32_t>(stays);
  const Output over = maximum(0, queue.size(operation_name(queue, "_Size")) - least);
  summary::scalar(fmt::format("fraction_over_{}_of_{}_full", stays, spec.capacity - stays),
                  cast(over, float32) * (1.f / static_cast<float>(spec.capacity - stays)));
}

// What batch() and its relatives share: a scope, what is kept, and the runner in its collection.
std::vector<Output> batch_in_scope(const char* usual_name, const std::string& name, std::optional<Output> keep,
                                   BatchSpec spec) {
  if (spec.sources.empty() || spec.sources[0].empty()) {
    throw invalid_argument("Expected at least one tensor in {}().", usual_name);
  }
  Graph& graph = spec.sources[0][0].graph();
  Scope scope = graph.name_scope(name.empty() ? usual_name : name);
  spec.keep_input = keep ? *keep : graph.constant(Tensor(true));
  spec.scope = scope.name();
  BatchNodes nodes = make_batch(graph, spec);
  add_queue_runner(graph, nodes.runner);
  return nodes.outputs;
}

template <class Options>
BatchSpec spec_of(std::vector<std::vector<Output>> sources, const Options& o) {
  BatchSpec spec{.sources = std::move(sources),
                 .keep_input = {},
                 .batch_size = o.batch_size,
                 .threads = o.threads,
                 .capacity = o.capacity,
                 .enqueue_many = o.enqueue_many,
                 .allow_smaller_final_batch = o.allow_smaller_final_batch,
                 .shared_name = o.shared_name};
  if (!o.shapes.empty()) spec.shapes = o.shapes;
  return spec;
}

BatchSpec batch_spec(std::vector<std::vector<Output>> sources, const BatchOptions& o) {
  BatchSpec spec = spec_of(std::move(sources), o);
  spec.dynamic_pad = o.dynamic_pad;
  return spec;
}

BatchSpec shuffle_spec(std::vector<std::vector<Output>> sources, const ShuffleBatchOptions& o) {
  BatchSpec spec = spec_of(std::move(sources), o);
  spec.min_after_dequeue = o.min_after_dequeue;
  spec.seed = o.seed;
  return spec;
}

}  // namespace

ProducerNodes make_producer(Graph& graph, Output input, const InputProducerOptions& options, const Shape& element_shape,
                            const std::string& summary_name) {
  if (input.shape().rank() == 0) throw invalid_argument("the input '{}' has no rows: it is a scalar", input.name());
  const Shape rows = input.shape().has_rank() ? Shape(input.shape().dims().subspan(1)) : Shape::unknown();
  const Shape element = rows.merged(element_shape);
  if (!element.is_known()) {
    throw invalid_argument(
        "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified");
  }
  if (options.shuffle) input = random_shuffle(input, {.seed = options.seed});
  if (options.num_epochs) input = limit_epochs(input, *options.num_epochs);
  const FifoQueue queue(graph, {input.dtype()},
                        {.capacity = options.capacity, .shapes = {element}, .shared_name = options.shared_name},
                        options.name);
  const Operation put = enqueue(queue, {input}, true);
  QueueRunner runner(queue, {put}, {Code::OutOfRange}, options.cancel_op);
  if (!summary_name.empty()) summarize_fill(queue, summary_name, options.capacity);
  return {queue, std::move(runner)};
}

ProducerNodes make_string_producer(Graph& graph, Output strings, const InputProducerOptions& options) {
  const char* kNone = "string_input_producer requires a non-null input tensor";
  const Output some = greater(size(strings), 0);
  Operation check;
  {
    Scope scope = graph.name_scope("Assert");
    graph.constant(Tensor(kNone));  // as TensorFlow's Python leaves it behind
    check = NodeBuilder("Assert").input(some).input(InList{kNone}).build();
  }
  {
    Scope after = graph.control_dependencies({check});
    strings = identity(strings);
  }
  return make_producer(graph, strings, options, Shape{}, fill_name(options.capacity));
}

ProducerNodes make_range_producer(Graph& graph, const In& limit, const InputProducerOptions& options) {
  return make_producer(graph, range(graph, 0, limit, 1), options, Shape{}, fill_name(options.capacity));
}

BatchNodes make_batch(Graph& graph, const BatchSpec& spec) {
  if (spec.min_after_dequeue && spec.capacity <= *spec.min_after_dequeue) {
    throw invalid_argument("capacity {} must be bigger than min_after_dequeue {}.", spec.capacity,
                           *spec.min_after_dequeue);
  }
  const QueueBase queue = make_queue(graph, spec);
  std::vector<Operation> enqueues;
  for (const auto& source : spec.sources) enqueues.push_back(enqueue_kept(graph, queue, source, spec));
  if (spec.sources.size() == 1 && spec.threads > 1) enqueues.resize(static_cast<size_t>(spec.threads), enqueues[0]);
  QueueRunner runner(queue, enqueues);
  summarize_batch(queue, spec);
  return {spec.allow_smaller_final_batch ? queue.dequeue_up_to(spec.batch_size, spec.scope)
                                         : queue.dequeue_many(spec.batch_size, spec.scope),
          std::move(runner)};
}

Output limit_epochs(const In& tensor, int64_t epochs, std::string_view name) {
  if (epochs <= 0) throw invalid_argument("num_epochs must be > 0 not {}.", epochs);
  Graph& graph = tensor.output().graph();
  Scope scope = graph.name_scope(name.empty() ? "limit_epochs" : name);
  const Output zero = graph.constant(Tensor(int64_t{0}));
  const Variable counter = graph.variable("epochs", zero, {.trainable = false, .collections = {"local_variables"}});
  const Output counted = count_up_to(counter, epochs);
  Scope after = graph.control_dependencies({counted.op()});
  return identity(tensor, scope.name());
}

QueueBase input_producer(Graph& graph, const In& input, const InputProducerOptions& options, const Shape& element_shape,
                         const std::string& summary_name) {
  Scope scope = graph.name_scope(options.name.empty() ? "input_producer" : options.name);
  ProducerNodes nodes =
      make_producer(graph, as_output(graph, input, "input_tensor"), options, element_shape, summary_name);
  add_queue_runner(graph, nodes.runner);
  return nodes.queue;
}

QueueBase string_input_producer(Graph& graph, const In& strings, const InputProducerOptions& options) {
  Scope scope = graph.name_scope(options.name.empty() ? "input_producer" : options.name);
  InputProducerOptions inner = options;
  inner.name = scope.name();
  ProducerNodes nodes = make_string_producer(graph, as_output(graph, strings), inner);
  add_queue_runner(graph, nodes.runner);
  return nodes.queue;
}

QueueBase range_input_producer(Graph& graph, const In& limit, const InputProducerOptions& options) {
  Scope scope = graph.name_scope(options.name.empty() ? "input_producer" : options.name);
  InputProducerOptions inner = options;
  inner.name = scope.name();
  ProducerNodes nodes = make_range_producer(graph, limit, inner);
  add_queue_runner(graph, nodes.runner);
  return nodes.queue;
}

std::vector<Output> slice_input_producer(Graph& graph, const InList& tensors, const InputProducerOptions& options) {
  if (tensors.values().empty()) throw invalid_argument("Expected at least one tensor in slice_input_producer().");
  Scope scope = graph.name_scope(options.name.empty() ? "input_producer" : options.name);
  std::vector<Output> values;
  for (const In& tensor : tensors.values()) values.push_back(as_output(graph, tensor));
  InputProducerOptions inner = options;
  inner.name = {};
  const Output rows = strided_slice(shape(values[0]), {0}, {1}, {1}, {.shrink_axis_mask = 1});
  const Output row = range_input_producer(graph, rows, inner).dequeue("input_producer_Dequeue")[0];
  std::vector<Output> slices;
  for (const Output& value : values) slices.push_back(gather(value, row));
  return slices;
}

std::vector<Output> batch(const std::vector<Output>& tensors, const BatchOptions& options) {
  return batch_in_scope("batch", options.name, options.keep_input, batch_spec({tensors}, options));
}
std::vector<Output> batch_join(const std::vector<std::vector<Output>>& sources, const BatchOptions& options) {
  return batch_in_scope("batch_join", options.name, options.keep_input, batch_spec(sources, options));
}
std::vector<Output> shuffle_batch(const std::vector<Output>& tensors, const ShuffleBatchOptions& options) {
  return batch_in_scope("shuffle_batch", options.name, options.keep_input, shuffle_spec({tensors}, options));
}
std::vector<Output> shuffle_batch_join(const std::vector<std::vector<Output>>& sources,
                                       const ShuffleBatchOptions& options) {
  return batch_in_scope("shuffle_batch_join", options.name, options.keep_input, shuffle_spec(sources, options));
}

}  // namespace weir::train

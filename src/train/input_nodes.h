#pragma once

#include "weir/input.h"

namespace weir::train {

// The nodes of the functions in weir/input.h, which leave the runner to whoever puts it into a collection.
struct ProducerNodes {
  QueueBase queue;
  QueueRunner runner;
};
// In the current name scope. `name` is the queue's.
ProducerNodes make_producer(Graph& graph, Output input, const InputProducerOptions& options, const Shape& element_shape,
                            const std::string& summary_name);
ProducerNodes make_string_producer(Graph& graph, Output strings, const InputProducerOptions& options);
ProducerNodes make_range_producer(Graph& graph, const In& limit, const InputProducerOptions& options);

struct BatchSpec {
  std::vector<std::vector<Output>> sources;
  Output keep_input;
  In batch_size;
  int threads = 1;  // of one source; several have one each
  int64_t capacity = 32;
  bool enqueue_many = false;
  std::optional<std::vector<Shape>> shapes = {};
  bool dynamic_pad = false;
  bool allow_smaller_final_batch = false;
  std::string shared_name = {};
  std::string scope = {};  // the current name scope, with its slash: the batch gets its name
  // Of a shuffled batch:
  std::optional<int64_t> min_after_dequeue = {};
  std::optional<int64_t> seed = {};
};
struct BatchNodes {
  std::vector<Output> outputs;
  QueueRunner runner;
};
BatchNodes make_batch(Graph& graph, const BatchSpec& spec);

}  // namespace weir::train

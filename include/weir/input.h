#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "weir/export.h"
#include "weir/queue_ops.h"
#include "weir/queue_runner.h"

// Input by queues: functions that make a queue, what fills it, and a runner in the graph's collection, which
// start_queue_runners starts. Nodes and names are TensorFlow's.
//
//   auto files = train::string_input_producer(g, {"a.tfrecord", "b.tfrecord"});
//   auto [image, label] = read_example(files);
//   auto [images, labels] = train::shuffle_batch({image, label}, {.batch_size = 128, .capacity = 5000,
//                                                                 .min_after_dequeue = 1000, .threads = 16});
namespace weir::train {

struct InputProducerOptions {
  // How often each element is given, after which the queue is closed; counted in a local variable, which has to be
  // initialised. Without it there is no end.
  std::optional<int64_t> num_epochs = {};
  bool shuffle = true;  // in every epoch anew
  std::optional<int64_t> seed = {};
  int64_t capacity = 32;
  std::string shared_name = {};
  std::string name = {};
  std::optional<Operation> cancel_op = {};  // instead of one that closes the queue
};
// The rows of a tensor, whose shape must be known. Throws InvalidArgument.
WEIR_API QueueBase input_producer(Graph& graph, const In& input, const InputProducerOptions& options = {},
                                  const Shape& element_shape = Shape::unknown(), const std::string& summary_name = {});
// Strings: the names of files. There must be one at least.
WEIR_API QueueBase string_input_producer(Graph& graph, const In& strings, const InputProducerOptions& options = {});
// The numbers below a limit, int32.
WEIR_API QueueBase range_input_producer(Graph& graph, const In& limit, const InputProducerOptions& options = {});
// One row of each tensor.
WEIR_API std::vector<Output> slice_input_producer(Graph& graph, const InList& tensors,
                                                  const InputProducerOptions& options = {});
// The tensor, so many times; then OutOfRange.
WEIR_API Output limit_epochs(const In& tensor, int64_t epochs, std::string_view name = {});

struct BatchOptions {
  In batch_size = 32;
  int64_t capacity = 32;
  int threads = 1;            // that run what the tensors depend on
  bool enqueue_many = false;  // the tensors are batches already, of any size
  std::vector<Shape> shapes = {};
  bool dynamic_pad = false;  // sizes may differ: batches are filled up with zeros
  bool allow_smaller_final_batch = false;
  std::optional<Output> keep_input = {};  // whether an element is kept: a truth value, or one for each row
  std::string shared_name = {};
  std::string name = {};
};
// Batches of what the tensors are one after the other. With several threads the order is open.
WEIR_API std::vector<Output> batch(const std::vector<Output>& tensors, const BatchOptions& options);
// The same for several sources, each with a thread of its own.
WEIR_API std::vector<Output> batch_join(const std::vector<std::vector<Output>>& sources, const BatchOptions& options);

struct ShuffleBatchOptions {
  In batch_size = 32;
  int64_t capacity = 64;
  int64_t min_after_dequeue = 32;  // elements that stay, so that they mix
  int threads = 1;
  std::optional<int64_t> seed = {};
  bool enqueue_many = false;
  std::vector<Shape> shapes = {};
  bool allow_smaller_final_batch = false;
  std::optional<Output> keep_input = {};
  std::string shared_name = {};
  std::string name = {};
};
// Batches in random order.
WEIR_API std::vector<Output> shuffle_batch(const std::vector<Output>& tensors, const ShuffleBatchOptions& options);
WEIR_API std::vector<Output> shuffle_batch_join(const std::vector<std::vector<Output>>& sources,
                                                const ShuffleBatchOptions& options);

// auto [images, labels] = batch({image, label}, {...});
template <size_t N>
std::array<Output, N> batch(const Output (&tensors)[N], const BatchOptions& options) {
  std::array<Output, N> result;
  const std::vector<Output> made = batch(std::vector<Output>(tensors, tensors + N), options);
  for (size_t i = 0; i < N; ++i) result[i] = made[i];
  return result;
}
template <size_t N>
std::array<Output, N> shuffle_batch(const Output (&tensors)[N], const ShuffleBatchOptions& options) {
  std::array<Output, N> result;
  const std::vector<Output> made = shuffle_batch(std::vector<Output>(tensors, tensors + N), options);
  for (size_t i = 0; i < N; ++i) result[i] = made[i];
  return result;
}

}  // namespace weir::train

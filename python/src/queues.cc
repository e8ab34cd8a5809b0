// Input by queues, and what stops threads together.
#include <nanobind/stl/string.h>

#include "building.h"
#include "interrupt.h"
#include "train/input_nodes.h"

namespace weir::python {
namespace {

bool wait_for_stop(const train::Coordinator& self, nb::handle timeout) {
  std::optional<std::chrono::nanoseconds> limit;
  if (!timeout.is_none()) {
    constexpr double kLongest = 1e9;  // seconds
    const double seconds = std::clamp(nb::cast<double>(timeout), 0.0, kLongest);
    limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  }
  bool stopped = false;
  run_interruptibly([&](const std::stop_token& interrupt) { stopped = self.wait_for_stop(limit, interrupt); });
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return stopped;
}

using H = nb::handle;
using G = GraphObject&;

// The parts of a runner, of which Python makes its own: (enqueue operations, close, cancel).
nb::object runner_parts(const train::QueueRunner& runner) {
  nb::list enqueues;
  for (const Operation& op : runner.enqueue_ops) enqueues.append(wrap(op));
  return nb::make_tuple(enqueues, wrap(runner.close_op), wrap(runner.cancel_op));
}

train::InputProducerOptions to_producer_options(H num_epochs, H shuffle, H seed, H capacity, H shared_name, H name,
                                                H cancel_op) {
  train::InputProducerOptions options;
  if (!num_epochs.is_none()) options.num_epochs = to_int64(num_epochs, "num_epochs");
  options.shuffle = to_bool(shuffle);
  options.seed = to_seed(seed);
  options.capacity = to_int64(capacity, "capacity");
  options.shared_name = to_name(shared_name);
  options.name = to_name(name);
  if (!cancel_op.is_none()) {
    const Operation* op = operation_of(cancel_op);
    if (!op) raise(PyExc_TypeError, "cancel_op must be an Operation, but got " + text_of(cancel_op));
    options.cancel_op = *op;
  }
  return options;
}

// (queue, parts of its runner), in the current name scope.
nb::object produced(const train::ProducerNodes& nodes) {
  return nb::make_tuple(wrap(nodes.queue.handle()), runner_parts(nodes.runner));
}

std::vector<Shape> to_shapes(H shapes) {
  std::vector<Shape> list;
  for (H shape : nb::iter(shapes)) list.push_back(to_shape(shape));
  return list;
}

std::vector<std::vector<Output>> to_sources(G graph, H sources) {
  std::vector<std::vector<Output>> lists;
  for (H source : nb::iter(sources)) {
    lists.emplace_back();
    for (H tensor : nb::iter(source)) lists.back().push_back(to_output(graph, tensor, DType::Invalid, {}));
  }
  return lists;
}

void bind_producers(nb::module_& m) {
  def(m, "input_producer",
      [](G g, H input, H element_shape, H epochs, H shuffle, H seed, H capacity, H shared, H summary, H name,
         H cancel) {
        return build(g, {input}, [&](G graph) {
          return produced(
              train::make_producer(graph, to_output(graph, input, DType::Invalid, {}),
                                   to_producer_options(epochs, shuffle, seed, capacity, shared, name, cancel),
                                   to_shape(element_shape), to_name(summary)));
        });
      });
  def(m, "string_input_producer",
      [](G g, H strings, H epochs, H shuffle, H seed, H capacity, H shared, H name, H cancel) {
        return build(g, {strings}, [&](G graph) {
          return produced(
              train::make_string_producer(graph, to_output(graph, strings, DType::String, {}),
                                          to_producer_options(epochs, shuffle, seed, capacity, shared, name, cancel)));
        });
      });
  def(m, "limit_epochs", [](G g, H tensor, H epochs, H name) {
    return build(g, {tensor}, [&](G graph) {
      return wrap(train::limit_epochs(to_output(graph, tensor, DType::Invalid, {}), to_int64(epochs, "num_epochs"),
                                      to_name(name)));
    });
  });
}

// (tensors, queue, parts of its runner). `min_after_dequeue` is None for batches in order.
nb::object make_batch(G g, H sources, H keep_input, H batch_size, H threads, H capacity, H enqueue_many, H shapes,
                      H dynamic_pad, H smaller, H shared_name, H scope, H min_after_dequeue, H seed) {
  return build(g, {keep_input}, [&](G graph) {
    train::BatchSpec spec{.sources = to_sources(graph, sources),
                          .keep_input = to_output(graph, keep_input, DType::Bool, {}),
                          .batch_size = to_in(graph, batch_size, DType::Int32),
                          .threads = to_int(threads, "num_threads"),
                          .capacity = to_int64(capacity, "capacity"),
                          .enqueue_many = to_bool(enqueue_many),
                          .dynamic_pad = to_bool(dynamic_pad),
                          .allow_smaller_final_batch = to_bool(smaller),
                          .shared_name = to_name(shared_name),
                          .scope = to_name(scope)};
    if (!shapes.is_none()) spec.shapes = to_shapes(shapes);
    if (!min_after_dequeue.is_none()) spec.min_after_dequeue = to_int64(min_after_dequeue, "min_after_dequeue");
    spec.seed = to_seed(seed);
    const train::BatchNodes nodes = train::make_batch(graph, spec);
    return nb::make_tuple(wrap(nodes.outputs), wrap(nodes.runner.queue), runner_parts(nodes.runner));
  });
}

}  // namespace

void bind_queues(nb::module_& m) {
  using train::Coordinator;
  nb::class_<Coordinator>(m, "Coordinator")
      .def(nb::init<>())
      .def("request_stop",
           [](Coordinator& self) {
             Unlocked unlocked;
             self.request_stop();
           })
      .def("should_stop", &Coordinator::should_stop)
      .def("clear_stop", &Coordinator::clear_stop)
      .def("wait_for_stop", &wait_for_stop, nb::arg("timeout").none());
  bind_producers(m);
  def(m, "make_batch",
      [](G g, H sources, H keep, H size, H threads, H capacity, H many, H shapes, H pad, H smaller, H shared_name,
         H scope, H stays, H seed) {
        return make_batch(g, sources, keep, size, threads, capacity, many, shapes, pad, smaller, shared_name, scope,
                          stays, seed);
      });
}

}  // namespace weir::python

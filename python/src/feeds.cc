// Feed dictionaries: tensors by themselves or by name, values checked against their shapes.
#include "run_arguments.h"

namespace weir::python {

Feed make_feed(const Output& output, nb::handle value) {
  if (tensor_of(value) || variable_of(value)) {
    raise(PyExc_TypeError,
          "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, strings, "
          "lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was " +
              text_of(value) + " which was passed to the feed with key " + output.name() + ".");
  }
  if (output.node()->body) raise(PyExc_ValueError, "Tensor " + output.name() + " may not be fed.");
  Tensor tensor = to_feed(value, output.dtype());
  if (!output.shape().compatible(tensor.shape())) {
    raise(PyExc_ValueError, "Cannot feed value of shape " + text_of(from_shape(tensor.shape())) + " for Tensor '" +
                                output.name() + "', which has shape '" + text_of(from_shape(output.shape())) + "'");
  }
  return {output, std::move(tensor)};
}

const Output& feed_target(GraphObject& graph, nb::handle key, Output& by_name) {
  if (const Output* output = tensor_of(key)) return *output;
  if (const Variable* variable = variable_of(key)) return by_name = variable->value();
  if (PyUnicode_Check(key.ptr())) {
    try {
      return by_name = graph.output(to_name(key));
    } catch (const Error& error) {
      raise(PyExc_TypeError, "Cannot interpret feed_dict key as Tensor: " + error.message());
    }
  }
  raise(PyExc_TypeError, "Cannot interpret feed_dict key as Tensor: Can not convert a " +
                             std::string(Py_TYPE(key.ptr())->tp_name) + " into a Tensor.");
}

namespace {

void add_feed(std::vector<Feed>& feeds, GraphObject& graph, nb::handle key, nb::handle value) {
  if (!tensor_of(key) && !variable_of(key) && !PyUnicode_Check(key.ptr())) {
    nb::object parts = package().expand_feed(key, value);
    if (!parts.is_none()) {
      for (nb::handle part : nb::list(parts)) add_feed(feeds, graph, part[0], part[1]);
      return;
    }
  }
  Output by_name;
  const Output& output = feed_target(graph, key, by_name);
  if (&output.graph() != static_cast<Graph*>(&graph)) {
    raise(PyExc_TypeError,
          "Cannot interpret feed_dict key as Tensor: Tensor " + text_of(key) + " is not an element of this graph.");
  }
  feeds.push_back(make_feed(output, value));
}

}  // namespace

std::vector<Feed> to_feeds(GraphObject& graph, nb::handle feed_dict) {
  std::vector<Feed> feeds;
  if (feed_dict.is_none()) return feeds;
  if (PyDict_CheckExact(feed_dict.ptr())) {
    for (auto [key, value] : nb::borrow<nb::dict>(feed_dict)) add_feed(feeds, graph, key, value);
  } else {
    if (!nb::hasattr(feed_dict, "items")) raise(PyExc_TypeError, "feed_dict must be a dictionary");
    for (nb::handle item : nb::list(feed_dict.attr("items")())) add_feed(feeds, graph, item[0], item[1]);
  }
  return feeds;
}

}  // namespace weir::python

// Control flow: the functions that programs pass in are called while the graph is built.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "graph/functions.h"
#include "nn/control_flow.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

// Both functions give lists of what the package made of the program's results.
nb::object make_cond(G g, H predicate, H then, H otherwise, H name) {
  return build(g, {predicate}, [&](G graph) -> nb::object {
    auto branch = [&](H function) {
      return std::function<std::vector<Output>()>(
          [&graph, function] { return to_outputs(graph, nb::object(function())); });
    };
    return wrap(cond(first_in(graph, predicate, "pred"), branch(then), branch(otherwise), to_name(name)));
  });
}

nb::object make_while(G g, H condition, H body, H initial, H invariants, H maximum, H parallel, H back_prop, H name) {
  return build(g, {initial}, [&](G graph) -> nb::object {
    std::vector<In> values;
    for (H value : nb::iter(initial)) values.push_back(to_in(graph, value));
    const std::string own_name = to_name(name);
    WhileOptions options{.maximum_iterations = to_optional_in(graph, maximum),
                         .parallel_iterations = to_int64(parallel, "parallel_iterations"),
                         .back_prop = to_bool(back_prop),
                         .name = own_name};
    if (!invariants.is_none()) {
      for (H shape : nb::iter(invariants)) options.shape_invariants.push_back(to_shape(shape));
    }
    auto goes_on = [&](const std::vector<Output>& now) {
      return to_output(graph, nb::object(condition(wrap(now))), DType::Invalid, {});
    };
    auto next = [&](const std::vector<Output>& now) { return to_outputs(graph, nb::object(body(wrap(now)))); };
    return wrap(nn::while_loop(graph, goes_on, next, values, options, In::Where::current()));
  });
}

// A function of the graph, made by calling the program's with placeholders. Gives its name, what it reads from around
// it, and its results.
nb::object make_function(G g, const std::string& name, H function, H types, H shapes) {
  return build(g, {}, [&](G graph) -> nb::object {
    std::vector<FunctionArgument> arguments;
    nb::list all_shapes(shapes);
    for (H type : nb::iter(types)) arguments.push_back({to_dtype(type), to_shape(all_shapes[arguments.size()])});
    auto make = [&](const std::vector<Output>& placeholders) {
      return to_outputs(graph, nb::object(function(wrap(placeholders))));
    };
    TracedFunction traced = trace_function(graph, name, arguments, make);
    nb::list waits;
    for (const Operation& wait : traced.captures.waits) waits.append(wrap(wait));
    return nb::make_tuple(traced.name, wrap(traced.captures.tensors), wrap(traced.results), waits);
  });
}

}  // namespace

void bind_flow(nb::module_& m) {
  def(m, "copy_into_function", [](H result, const std::string& name, H finish) {
    const Output* output = tensor_of(result);
    if (!output) raise(PyExc_TypeError, "a tensor is wanted");
    return build(graph_of(output->node()), {}, [&](G graph) {
      return copy_into_function(*output, name, [&](const Output& copy) {
        return to_output(graph, nb::object(finish(wrap(copy))), DType::Invalid, {});
      });
    });
  });
  def(m, "function", [](G g, const std::string& name, H function, H types, H shapes) {
    return make_function(g, name, function, types, shapes);
  });
  def(m, "cond",
      [](G g, H predicate, H then, H otherwise, H name) { return make_cond(g, predicate, then, otherwise, name); });
  def(m, "while_loop",
      [](G g, H condition, H body, H initial, H invariants, H maximum, H parallel, H back_prop, H name) {
        return make_while(g, condition, body, initial, invariants, maximum, parallel, back_prop, name);
      });
}

}  // namespace weir::python

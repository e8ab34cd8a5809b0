// Gradients and optimizers.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "weir/optimizers.h"

namespace weir::python {
namespace {

using H = nb::handle;

std::vector<Variable> to_variables(H list) {
  std::vector<Variable> variables;
  for (H item : nb::iter(list)) {
    const Variable* variable = variable_of(item);
    if (!variable) {
      PyErr_Format(PyExc_TypeError, "Argument is not a tf.Variable: %s", nb::repr(item).c_str());
      throw nb::python_error();
    }
    variables.push_back(*variable);
  }
  return variables;
}

std::optional<Variable> to_optional_variable(H value) {
  if (value.is_none()) return std::nullopt;
  const Variable* variable = variable_of(value);
  if (!variable) {
    raise(PyExc_TypeError, "global_step must be a tf.Variable");
  }
  return *variable;
}

nb::list compute_gradients(GraphObject& fallback, H ys, H xs, H grad_ys, H stop_gradients, bool colocate, H name) {
  return build(fallback, {ys, xs}, [&](GraphObject& graph) {
    use_gradient_functions(graph);
    GradientsOptions options{.colocate_with_ops = colocate};
    std::string scope = name.is_none() ? "gradients" : to_name(name);
    options.name = scope;
    if (!grad_ys.is_none()) {
      for (H item : nb::iter(grad_ys)) {
        options.grad_ys.push_back(item.is_none() ? Output() : to_output(graph, item, DType::Invalid, {}));
      }
    }
    if (!stop_gradients.is_none()) options.stop_gradients = to_outputs(graph, stop_gradients);
    // The gradient of a variable is that of its read; of a resource variable through its handle.
    nb::list result;
    for (const Gradient& gradient : gradients(to_outputs(graph, ys), to_outputs(graph, xs), options)) {
      result.append(wrap(gradient));
    }
    return result;
  });
}

struct OptimizerObject {
  std::unique_ptr<train::Optimizer> optimizer;
};

nb::list optimizer_gradients(OptimizerObject& self, H loss, H var_list, H grad_loss, bool colocate, int gate) {
  const Output* output = find_tensor(loss);
  if (!output) {
    raise(PyExc_TypeError, "the loss must be a Tensor");
  }
  return build(graph_of(output->node()), {loss}, [&](GraphObject& graph) {
    use_gradient_functions(graph);
    train::ComputeGradientsOptions options{.colocate_gradients_with_ops = colocate,
                                           .gate_gradients = static_cast<train::GateGradients>(gate)};
    if (!var_list.is_none()) options.var_list = to_variables(var_list);
    if (!grad_loss.is_none()) options.grad_loss = to_output(graph, grad_loss, DType::Invalid, "grad_loss");
    nb::list pairs;
    for (const auto& [gradient, variable] : self.optimizer->compute_gradients(*find_tensor(loss), options)) {
      pairs.append(nb::make_tuple(wrap(gradient), wrap(variable)));
    }
    return pairs;
  });
}

train::GradsAndVars to_pairs(GraphObject& graph, H pairs) {
  train::GradsAndVars list;
  for (H pair : nb::iter(pairs)) {
    list.emplace_back(to_gradient(graph, pair[0]), to_variables(nb::make_tuple(pair[1]))[0]);
  }
  return list;
}

nb::object apply_gradients(OptimizerObject& self, GraphObject& fallback, H grads_and_vars, H global_step, H name) {
  nb::list pairs(grads_and_vars);
  GraphObject* where = &fallback;
  for (H pair : pairs) {
    if (const Variable* variable = variable_of(pair[1])) where = &graph_of(variable->handle().node());
  }
  return build(*where, {}, [&](GraphObject& graph) {
    return wrap(self.optimizer->apply_gradients(
        to_pairs(graph, pairs), {.global_step = to_optional_variable(global_step), .name = to_name(name)}));
  });
}

nb::list average_gradients(GraphObject& fallback, H towers) {
  return build(fallback, {}, [&](GraphObject& graph) {
    std::vector<train::GradsAndVars> lists;
    for (H tower : nb::iter(towers)) lists.push_back(to_pairs(graph, tower));
    nb::list pairs;
    for (const auto& [gradient, variable] : train::average_gradients(lists)) {
      pairs.append(nb::make_tuple(wrap(gradient), wrap(variable)));
    }
    return pairs;
  });
}

}  // namespace

void bind_train(nb::module_& m) {
  def(m, "gradients", [](GraphObject& g, H ys, H xs, H grad_ys, H stop, bool colocate, H name) {
    return compute_gradients(g, ys, xs, grad_ys, stop, colocate, name);
  });
  def(m, "average_gradients", [](GraphObject& g, H towers) { return average_gradients(g, towers); });
  nb::class_<OptimizerObject>(m, "Optimizer")
      .def("compute_gradients", &optimizer_gradients, nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
           nb::arg())
      .def("apply_gradients", &apply_gradients, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none())
      .def("get_slot", [](OptimizerObject& o, const VariableObject& v,
                          const std::string& name) { return wrap(o.optimizer->slot(v.part, name)); })
      .def("get_slot_names", [](OptimizerObject& o) { return o.optimizer->slot_names(); })
      .def("variables", [](OptimizerObject& o) { return wrap(o.optimizer->variables()); });
  auto made = [](std::unique_ptr<train::Optimizer> optimizer) { return OptimizerObject{std::move(optimizer)}; };
  def(m, "gradient_descent", [made](GraphObject& g, H rate, const std::string& name) {
    return made(std::make_unique<train::GradientDescent>(to_in(g, rate), name));
  });
  def(m, "momentum", [made](GraphObject& g, H rate, H momentum, bool nesterov, const std::string& name) {
    return made(
        std::make_unique<train::Momentum>(to_in(g, rate), to_in(g, momentum), train::MomentumOptions{nesterov, name}));
  });
  def(m, "adam", [made](GraphObject& g, H rate, H beta1, H beta2, H epsilon, const std::string& name) {
    train::AdamOptions options{to_in(g, beta1), to_in(g, beta2), to_in(g, epsilon), name};
    return made(std::make_unique<train::Adam>(to_in(g, rate), options));
  });
  def(m, "adagrad", [made](GraphObject& g, H rate, float initial, const std::string& name) {
    return made(std::make_unique<train::Adagrad>(to_in(g, rate), train::AdagradOptions{initial, name}));
  });
  def(m, "rms_prop",
      [made](GraphObject& g, H rate, H decay, H momentum, H epsilon, bool centered, const std::string& name) {
        train::RmsPropOptions options{.decay = to_in(g, decay),
                                      .momentum = to_in(g, momentum),
                                      .epsilon = to_in(g, epsilon),
                                      .centered = centered,
                                      .name = name};
        return made(std::make_unique<train::RmsProp>(to_in(g, rate), options));
      });
  def(m, "adadelta", [made](GraphObject& g, H rate, H rho, H epsilon, const std::string& name) {
    train::AdadeltaOptions options{.rho = to_in(g, rho), .epsilon = to_in(g, epsilon), .name = name};
    return made(std::make_unique<train::Adadelta>(to_in(g, rate), options));
  });
  def(m, "ftrl",
      [made](GraphObject& g, H rate, float power, float initial, float l1, float l2, float shrinkage,
             const std::string& name) {
        train::FtrlOptions options{power, initial, l1, l2, shrinkage, name};
        return made(std::make_unique<train::Ftrl>(to_in(g, rate), options));
      });
  def(m, "proximal_gradient_descent", [made](GraphObject& g, H rate, H l1, H l2, const std::string& name) {
    train::ProximalOptions options{to_in(g, l1), to_in(g, l2), name};
    return made(std::make_unique<train::ProximalGradientDescent>(to_in(g, rate), options));
  });
  def(m, "proximal_adagrad", [made](GraphObject& g, H rate, float initial, H l1, H l2, const std::string& name) {
    train::ProximalAdagradOptions options;
    options.initial_accumulator_value = initial;
    options.l1_regularization_strength = to_in(g, l1);
    options.l2_regularization_strength = to_in(g, l2);
    options.name = name;
    return made(std::make_unique<train::ProximalAdagrad>(to_in(g, rate), options));
  });
  def(m, "adagrad_da", [made](GraphObject& g, H rate, H step, float initial, H l1, H l2, const std::string& name) {
    train::AdagradDAOptions options;
    options.initial_gradient_squared_accumulator_value = initial;
    options.l1_regularization_strength = to_in(g, l1);
    options.l2_regularization_strength = to_in(g, l2);
    options.name = name;
    return made(std::make_unique<train::AdagradDA>(to_in(g, rate), to_in(g, step), options));
  });
}

}  // namespace weir::python

// Gradients and optimizers.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <set>

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

// An optimizer whose steps are methods of a Python object, those that the program's class defines; the others are the
// steps of the optimizer that the class extends, if it does. The Python object owns this one.
class ProgramOptimizer final : public train::Optimizer {
 public:
  ProgramOptimizer(H self, const std::string& name, std::unique_ptr<train::Optimizer> base, nb::set own)
      : Optimizer(name), self_(self), base_(std::move(base)) {
    for (H step : own) own_.insert(nb::cast<std::string>(step));
  }

  // The steps of the optimizer that is extended.
  train::Optimizer& base() const {
    if (!base_) raise(PyExc_NotImplementedError, "the optimizer does not define this step");
    return *base_;
  }
  const train::Optimizer* base_or_null() const { return base_.get(); }
  using Optimizer::make_slot;
  using Optimizer::non_slot_variable;

  void create_slots(const std::vector<Variable>& variables) override {
    if (defines("_create_slots")) {
      self_.attr("_create_slots")(wrap(variables));
    } else if (base_) {
      base_->create_slots(variables);
    }
  }
  void prepare(Graph& graph) override {
    if (defines("_prepare")) {
      self_.attr("_prepare")();
    } else if (base_) {
      base_->prepare(graph);
    }
  }
  Operation apply_dense(const Output& grad, const Variable& variable) override {
    const char* step = variable.is_resource() ? "_resource_apply_dense" : "_apply_dense";
    if (!defines(step)) return base().apply_dense(grad, variable);
    return operation(self_.attr(step)(wrap(grad), wrap(variable)));
  }
  Operation apply_sparse_duplicate_indices(const IndexedSlices& grad, const Variable& variable) override {
    const bool resource = variable.is_resource();
    const char* step = resource ? "_resource_apply_sparse_duplicate_indices" : "_apply_sparse_duplicate_indices";
    if (!defines(step)) {
      const bool rows = defines(resource ? "_resource_apply_sparse" : "_apply_sparse");
      return rows || !base_ ? Optimizer::apply_sparse_duplicate_indices(grad, variable)
                            : base_->apply_sparse_duplicate_indices(grad, variable);
    }
    if (!resource) return operation(self_.attr(step)(wrap(Gradient(grad)), wrap(variable)));
    return operation(self_.attr(step)(wrap(grad.values), wrap(variable), wrap(grad.indices)));
  }
  Operation apply_sparse(const IndexedSlices& grad, const Variable& variable) override {
    const char* step = variable.is_resource() ? "_resource_apply_sparse" : "_apply_sparse";
    if (!defines(step)) return base().apply_sparse(grad, variable);
    if (!variable.is_resource()) return operation(self_.attr(step)(wrap(Gradient(grad)), wrap(variable)));
    return operation(self_.attr(step)(wrap(grad.values), wrap(variable), wrap(grad.indices)));
  }
  Operation finish(Graph& graph, const std::vector<Operation>& updates, const std::string& name) override {
    if (!defines("_finish"))
      return base_ ? base_->finish(graph, updates, name) : Optimizer::finish(graph, updates, name);
    nb::list list;
    for (const Operation& update : updates) list.append(wrap(update));
    return operation(self_.attr("_finish")(list, name));
  }

 private:
  bool defines(const char* step) const { return own_.contains(step); }
  static Operation operation(nb::object result) { return to_operations(nb::make_tuple(result))[0]; }

  H self_;
  std::unique_ptr<train::Optimizer> base_;
  std::set<std::string> own_;
};

struct OptimizerObject {
  std::unique_ptr<train::Optimizer> optimizer;

  // Throws NotImplementedError when no method of the program takes part.
  ProgramOptimizer& program() const {
    auto* found = dynamic_cast<ProgramOptimizer*>(optimizer.get());
    if (!found) raise(PyExc_NotImplementedError, "the optimizer does not define this step");
    return *found;
  }
};

nb::object get_slot(OptimizerObject& o, const VariableObject& v, const std::string& name) {
  Variable slot = o.optimizer->slot(v.part, name);
  auto* program = dynamic_cast<ProgramOptimizer*>(o.optimizer.get());
  if (!slot && program && program->base_or_null()) slot = program->base_or_null()->slot(v.part, name);
  return wrap(slot);
}

std::vector<std::string> get_slot_names(OptimizerObject& o) {
  std::vector<std::string> names = o.optimizer->slot_names();
  auto* program = dynamic_cast<ProgramOptimizer*>(o.optimizer.get());
  if (program && program->base_or_null()) {
    for (const std::string& name : program->base_or_null()->slot_names()) names.push_back(name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return names;
}

nb::object get_non_slot(OptimizerObject& o, const std::string& name, GraphObject& graph) {
  Variable found = o.optimizer->non_slot(name, graph);
  auto* program = dynamic_cast<ProgramOptimizer*>(o.optimizer.get());
  if (!found && program && program->base_or_null()) found = program->base_or_null()->non_slot(name, graph);
  return wrap(found);
}

nb::list optimizer_variables(OptimizerObject& o) {
  nb::list list;
  auto* program = dynamic_cast<ProgramOptimizer*>(o.optimizer.get());
  if (program && program->base_or_null()) {
    for (const Variable& variable : program->base_or_null()->variables()) list.append(wrap(variable));
  }
  for (const Variable& variable : o.optimizer->variables()) list.append(wrap(variable));
  return list;
}

// Calls a step of the optimizer that a program's class extends.
nb::object base_step(OptimizerObject& o, const std::string& step, GraphObject& fallback, H first, H second) {
  train::Optimizer& base = o.program().base();
  return build(fallback, {}, [&](GraphObject& graph) -> nb::object {
    if (step == "create_slots") {
      base.create_slots(to_variables(first));
    } else if (step == "prepare") {
      base.prepare(graph);
    } else if (step == "apply_dense") {
      return wrap(
          base.apply_dense(to_output(graph, first, DType::Invalid, {}), to_variables(nb::make_tuple(second))[0]));
    } else if (step == "finish") {
      return wrap(base.finish(graph, to_operations(first), nb::cast<std::string>(second)));
    } else {
      const Gradient grad = to_gradient(graph, first);
      const Variable variable = to_variables(nb::make_tuple(second))[0];
      return wrap(step == "apply_sparse" ? base.apply_sparse(grad.slices(), variable)
                                         : base.apply_sparse_duplicate_indices(grad.slices(), variable));
    }
    return nb::none();
  });
}

// A slot that begins as `value` (a tensor or value), or with zeros.
nb::object make_slot(OptimizerObject& o, H variable, H value, const std::string& slot, const std::string& name) {
  const Variable of = to_variables(nb::make_tuple(variable))[0];
  return build(graph_of(of.handle().node()), {}, [&](GraphObject& graph) {
    Initializer initializer = zeros_initializer();
    if (!value.is_none()) initializer = Initializer(In(to_output(graph, value, of.dtype(), {})));
    return wrap(o.program().make_slot(of, slot, initializer, name));
  });
}

nb::object make_non_slot(OptimizerObject& o, H value, const std::string& name, H beside) {
  const Variable of = to_variables(nb::make_tuple(beside))[0];
  return build(graph_of(of.handle().node()), {},
               [&](GraphObject& graph) { return wrap(o.program().non_slot_variable(to_in(graph, value), name, of)); });
}

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

nb::object apply_gradients(OptimizerObject& self, GraphObject& fallback, H grads_and_vars, H global_step, H name,
                           H after_update) {
  nb::list pairs(grads_and_vars);
  GraphObject* where = &fallback;
  for (H pair : pairs) {
    if (const Variable* variable = variable_of(pair[1])) where = &graph_of(variable->handle().node());
  }
  return build(*where, {}, [&](GraphObject& graph) {
    train::ApplyGradientsOptions options{.global_step = to_optional_variable(global_step), .name = to_name(name)};
    if (!after_update.is_none()) {
      options.after_update = [&](const Variable& variable, const Gradient& gradient, const Operation& update) {
        nb::object last = after_update(wrap(variable), gradient.sparse(), wrap(update));
        return to_operations(nb::make_tuple(last))[0];
      };
    }
    return wrap(self.optimizer->apply_gradients(to_pairs(graph, pairs), options));
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
      .def("apply_gradients", &apply_gradients, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
           nb::arg().none())
      .def("set_use_locking", [](OptimizerObject& o, bool use) { o.optimizer->set_use_locking(use); })
      .def("get_slot", &get_slot)
      .def("get_slot_names", &get_slot_names)
      .def("get_non_slot", &get_non_slot)
      .def("variables", &optimizer_variables)
      .def("base_step", &base_step, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none())
      .def("make_slot", &make_slot, nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def("make_non_slot", &make_non_slot, nb::arg(), nb::arg(), nb::arg());
  m.def(
      "program_optimizer",
      [](H self, const std::string& name, H base, nb::set own) {
        std::unique_ptr<train::Optimizer> extended;
        if (!base.is_none()) extended = std::move(nb::cast<OptimizerObject&>(base).optimizer);
        return OptimizerObject{std::make_unique<ProgramOptimizer>(self, name, std::move(extended), own)};
      },
      nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
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
             const std::string& name, H accum_name, H linear_name) {
        train::FtrlOptions options{power, initial, l1, l2, shrinkage, name, to_name(accum_name), to_name(linear_name)};
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

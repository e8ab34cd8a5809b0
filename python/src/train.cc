// Gradients and optimizers.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <set>

#include "building.h"
#include "weir/contrib_optimizers.h"
#include "weir/distributed_optimizers.h"
#include "weir/optimizers.h"

namespace weir::python {
namespace {

using H = nb::handle;

std::vector<Variable> to_variables(H list) {
  std::vector<Variable> variables;
  for (H item : nb::iter(list)) variables.push_back(variable_in(item));
  return variables;
}

std::optional<Variable> to_optional_variable(H value) {
  if (value.is_none()) return std::nullopt;
  if (!variable_of(value)) raise(PyExc_TypeError, "global_step must be a tf.Variable");
  return *variable_of(value);
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
  std::unique_ptr<train::Optimizer> optimizer;  // null when another optimizer has taken it as its base

  train::Optimizer& get() const {
    if (!optimizer) raise(PyExc_ValueError, "the optimizer has become a part of another one");
    return *optimizer;
  }

  // Throws NotImplementedError when no method of the program takes part.
  ProgramOptimizer& program() const {
    auto* found = dynamic_cast<ProgramOptimizer*>(optimizer.get());
    if (!found) raise(PyExc_NotImplementedError, "the optimizer does not define this step");
    return *found;
  }
};

nb::object get_slot(OptimizerObject& o, const VariableObject& v, const std::string& name) {
  Variable slot = o.get().slot(made(v), name);
  auto* program = dynamic_cast<ProgramOptimizer*>(o.optimizer.get());
  if (!slot && program && program->base_or_null()) slot = program->base_or_null()->slot(v.part, name);
  return wrap(slot);
}

std::vector<std::string> get_slot_names(OptimizerObject& o) {
  std::vector<std::string> names = o.get().slot_names();
  auto* program = dynamic_cast<ProgramOptimizer*>(o.optimizer.get());
  if (program && program->base_or_null()) {
    for (const std::string& name : program->base_or_null()->slot_names()) names.push_back(name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return names;
}

nb::object get_non_slot(OptimizerObject& o, const std::string& name, GraphObject& graph) {
  Variable found = o.get().non_slot(name, graph);
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
  for (const Variable& variable : o.get().variables()) list.append(wrap(variable));
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
      return wrap(base.apply_dense(to_output(graph, first, DType::Invalid, {}), variable_in(second)));
    } else if (step == "finish") {
      return wrap(base.finish(graph, to_operations(first), to_name(second)));
    } else {
      const Gradient grad = to_gradient(graph, first);
      const Variable variable = variable_in(second);
      return wrap(step == "apply_sparse" ? base.apply_sparse(grad.slices(), variable)
                                         : base.apply_sparse_duplicate_indices(grad.slices(), variable));
    }
    return nb::none();
  });
}

// A slot that begins as `value` (a tensor or value), or with zeros.
nb::object make_slot(OptimizerObject& o, H variable, H value, const std::string& slot, const std::string& name) {
  const Variable of = variable_in(variable);
  return build(graph_of(of.handle().node()), {}, [&](GraphObject& graph) {
    Initializer initializer = zeros_initializer();
    if (!value.is_none()) initializer = Initializer(In(to_output(graph, value, of.dtype(), {})));
    return wrap(o.program().make_slot(of, slot, initializer, name));
  });
}

nb::object make_non_slot(OptimizerObject& o, H value, const std::string& name, H beside) {
  const Variable of = variable_in(beside);
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
    for (const auto& [gradient, variable] : self.get().compute_gradients(*find_tensor(loss), options)) {
      pairs.append(nb::make_tuple(wrap(gradient), wrap(variable)));
    }
    return pairs;
  });
}

train::GradsAndVars to_pairs(GraphObject& graph, H pairs) {
  train::GradsAndVars list;
  for (H pair : nb::iter(pairs)) {
    list.emplace_back(to_gradient(graph, pair[0]), variable_in(pair[1]));
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
    return wrap(self.get().apply_gradients(to_pairs(graph, pairs), options));
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

// The nodes of tf.train.SyncReplicasOptimizer by name. `apply(pairs)` and `after_sync()` are the program's optimizer
// and moving averages.
nb::dict sync_replicas(GraphObject& fallback, H grads_and_vars, H global_step, int required, int total, H name, H apply,
                       H after_sync) {
  nb::list given(grads_and_vars);
  return build(fallback, {}, [&](GraphObject& graph) {
    const train::SyncReplicasOptions options{.replicas_to_aggregate = required,
                                             .total_num_replicas = total,
                                             .global_step = variable_in(global_step),
                                             .name = to_name(name)};
    auto operation = [](nb::object result) { return to_operations(nb::make_tuple(result))[0]; };
    auto apply_all = [&](const train::GradsAndVars& means, const Variable&) {
      nb::list pairs;
      for (const auto& [gradient, variable] : means) pairs.append(nb::make_tuple(wrap(gradient), wrap(variable)));
      return operation(apply(pairs));
    };
    std::function<Operation()> after;
    if (!after_sync.is_none()) after = [&] { return operation(after_sync()); };
    const train::SyncReplicasNodes nodes = train::sync_replicas(to_pairs(graph, given), options, apply_all, after);
    nb::dict result;
    result["train"] = wrap(nodes.train);
    result["sync"] = wrap(nodes.sync);
    result["local_step_init"] = wrap(nodes.local_step_init);
    result["chief_init"] = wrap(nodes.chief_init);
    result["local_step"] = wrap(nodes.local_step);
    result["token_queue"] = wrap(nodes.token_queue);
    result["runner_queue"] = wrap(nodes.runner_queue);
    return result;
  });
}

nb::object sync_init_tokens(GraphObject& fallback, H token_queue, H global_step, int required, int total, int count) {
  return build(fallback, {}, [&](GraphObject& graph) {
    train::SyncReplicasNodes nodes;
    nodes.token_queue = to_output(graph, token_queue, DType::Invalid, {});
    return wrap(train::sync_init_tokens(
        nodes,
        {.replicas_to_aggregate = required, .total_num_replicas = total, .global_step = variable_in(global_step)},
        count));
  });
}

// A kind of optimizer: `make(graph, ...)` gives one; the graph comes first.
template <class F, class... Args>
void def_optimizer(nb::module_& m, const char* name, F make, const Args&... args) {
  m.def(name, make, named("graph"), args...);
}
template <class Kind, class... Args>
OptimizerObject made(const Args&... args) {
  return {std::make_unique<Kind>(args...)};
}

float to_float(H value, const char* name) { return static_cast<float>(to_double(value, name)); }

template <class Kind>
void bind_adam_relative(nb::module_& m, const char* function, const char* usual_name) {
  const train::AdamOptions adam;
  def_optimizer(
      m, function,
      [](GraphObject& g, H rate, H beta1, H beta2, H epsilon, const std::string& name) {
        return made<Kind>(to_in(g, rate),
                          train::AdamOptions{to_in(g, beta1), to_in(g, beta2), to_in(g, epsilon), name});
      },
      option("learning_rate", 0.001f), option("beta1", adam.beta1), option("beta2", adam.beta2),
      option("epsilon", adam.epsilon), option("name", usual_name));
}

void bind_adaptive_optimizers(nb::module_& m) {
  using G = GraphObject&;
  using Text = const std::string&;
  const train::AdamOptions adam;
  def_optimizer(
      m, "adam",
      [](G g, H rate, H beta1, H beta2, H epsilon, Text name) {
        train::AdamOptions options{to_in(g, beta1), to_in(g, beta2), to_in(g, epsilon), name};
        return made<train::Adam>(to_in(g, rate), options);
      },
      option("learning_rate", 0.001f), option("beta1", adam.beta1), option("beta2", adam.beta2),
      option("epsilon", adam.epsilon), option("name", adam.name));
  const train::AdagradOptions adagrad;
  def_optimizer(
      m, "adagrad",
      [](G g, H rate, H initial, Text name) {
        train::AdagradOptions options{to_float(initial, "initial_accumulator_value"), name};
        return made<train::Adagrad>(to_in(g, rate), options);
      },
      named("learning_rate"), option("initial_accumulator_value", adagrad.initial_accumulator_value),
      option("name", adagrad.name));
  const train::RmsPropOptions rms_prop;
  def_optimizer(
      m, "rms_prop",
      [](G g, H rate, H decay, H momentum, H epsilon, H centered, Text name) {
        train::RmsPropOptions options{.decay = to_in(g, decay),
                                      .momentum = to_in(g, momentum),
                                      .epsilon = to_in(g, epsilon),
                                      .centered = to_bool(centered),
                                      .name = name};
        return made<train::RmsProp>(to_in(g, rate), options);
      },
      named("learning_rate"), option("decay", rms_prop.decay), option("momentum", rms_prop.momentum),
      option("epsilon", rms_prop.epsilon), option("centered", rms_prop.centered), option("name", rms_prop.name));
  const train::AdadeltaOptions adadelta;
  def_optimizer(
      m, "adadelta",
      [](G g, H rate, H rho, H epsilon, Text name) {
        train::AdadeltaOptions options{.rho = to_in(g, rho), .epsilon = to_in(g, epsilon), .name = name};
        return made<train::Adadelta>(to_in(g, rate), options);
      },
      option("learning_rate", 0.001f), option("rho", adadelta.rho), option("epsilon", adadelta.epsilon),
      option("name", adadelta.name));
}

void bind_regularized_optimizers(nb::module_& m) {
  using G = GraphObject&;
  using Text = const std::string&;
  const train::FtrlOptions ftrl;
  def_optimizer(
      m, "ftrl",
      [](G g, H rate, H power, H initial, H l1, H l2, Text name, H accum_name, H linear_name, H shrinkage) {
        train::FtrlOptions options{to_float(power, "learning_rate_power"),
                                   to_float(initial, "initial_accumulator_value"),
                                   to_float(l1, "l1_regularization_strength"),
                                   to_float(l2, "l2_regularization_strength"),
                                   to_float(shrinkage, "l2_shrinkage_regularization_strength"),
                                   name,
                                   to_name(accum_name),
                                   to_name(linear_name)};
        return made<train::Ftrl>(to_in(g, rate), options);
      },
      named("learning_rate"), option("learning_rate_power", ftrl.learning_rate_power),
      option("initial_accumulator_value", ftrl.initial_accumulator_value),
      option("l1_regularization_strength", ftrl.l1_regularization_strength),
      option("l2_regularization_strength", ftrl.l2_regularization_strength), option("name", ftrl.name),
      option("accum_name", std::nullopt), option("linear_name", std::nullopt),
      option("l2_shrinkage_regularization_strength", ftrl.l2_shrinkage_regularization_strength));
  const train::ProximalOptions proximal;
  def_optimizer(
      m, "proximal_gradient_descent",
      [](G g, H rate, H l1, H l2, Text name) {
        train::ProximalOptions options{to_in(g, l1), to_in(g, l2), name};
        return made<train::ProximalGradientDescent>(to_in(g, rate), options);
      },
      named("learning_rate"), option("l1_regularization_strength", proximal.l1_regularization_strength),
      option("l2_regularization_strength", proximal.l2_regularization_strength), option("name", proximal.name));
  const train::ProximalAdagradOptions adagrad;
  def_optimizer(
      m, "proximal_adagrad",
      [](G g, H rate, H initial, H l1, H l2, Text name) {
        train::ProximalAdagradOptions options{to_float(initial, "initial_accumulator_value"), to_in(g, l1),
                                              to_in(g, l2), name};
        return made<train::ProximalAdagrad>(to_in(g, rate), options);
      },
      named("learning_rate"), option("initial_accumulator_value", adagrad.initial_accumulator_value),
      option("l1_regularization_strength", adagrad.l1_regularization_strength),
      option("l2_regularization_strength", adagrad.l2_regularization_strength), option("name", adagrad.name));
  const train::AddSignOptions add_sign;
  def_optimizer(
      m, "add_sign",
      [](G g, H rate, H alpha, H beta, H decay, Text name) {
        return made<train::AddSign>(to_in(g, rate),
                                    train::AddSignOptions{to_in(g, alpha), to_in(g, beta), to_in(g, decay), name});
      },
      option("learning_rate", 0.1f), option("alpha", add_sign.alpha), option("beta", add_sign.beta),
      option("sign_decay", add_sign.sign_decay), option("name", add_sign.name));
  const train::PowerSignOptions power_sign;
  def_optimizer(
      m, "power_sign",
      [](G g, H rate, H base, H beta, H decay, Text name) {
        return made<train::PowerSign>(
            to_in(g, rate), train::PowerSignOptions{nb::cast<double>(base), to_in(g, beta), to_in(g, decay), name});
      },
      option("learning_rate", 0.1f), option("base", power_sign.base), option("beta", power_sign.beta),
      option("sign_decay", power_sign.sign_decay), option("name", power_sign.name));
  bind_adam_relative<train::AdaMax>(m, "ada_max", "AdaMax");
  bind_adam_relative<train::Nadam>(m, "nadam", "Adam");
  bind_adam_relative<train::LazyAdam>(m, "lazy_adam", "Adam");
  const train::AdagradDAOptions dual;
  def_optimizer(
      m, "adagrad_da",
      [](G g, H rate, H step, H initial, H l1, H l2, Text name) {
        train::AdagradDAOptions options{to_float(initial, "initial_gradient_squared_accumulator_value"), to_in(g, l1),
                                        to_in(g, l2), name};
        return made<train::AdagradDA>(to_in(g, rate), to_in(g, step), options);
      },
      named("learning_rate"), named("global_step"),
      option("initial_gradient_squared_accumulator_value", dual.initial_gradient_squared_accumulator_value),
      option("l1_regularization_strength", dual.l1_regularization_strength),
      option("l2_regularization_strength", dual.l2_regularization_strength), option("name", dual.name));
}

void bind_optimizers(nb::module_& m) {
  using G = GraphObject&;
  using Text = const std::string&;
  def_optimizer(
      m, "gradient_descent", [](G g, H rate, Text name) { return made<train::GradientDescent>(to_in(g, rate), name); },
      named("learning_rate"), option("name", "GradientDescent"));
  const train::MomentumOptions momentum;
  def_optimizer(
      m, "momentum",
      [](G g, H rate, H factor, Text name, H nesterov) {
        train::MomentumOptions options{to_bool(nesterov), name};
        return made<train::Momentum>(to_in(g, rate), to_in(g, factor), options);
      },
      named("learning_rate"), named("momentum"), option("name", momentum.name),
      option("use_nesterov", momentum.use_nesterov));
  bind_adaptive_optimizers(m);
  bind_regularized_optimizers(m);
}

}  // namespace

void bind_train(nb::module_& m) {
  def(m, "gradients", [](GraphObject& g, H ys, H xs, H grad_ys, H stop, bool colocate, H name) {
    return compute_gradients(g, ys, xs, grad_ys, stop, colocate, name);
  });
  def(m, "average_gradients", [](GraphObject& g, H towers) { return average_gradients(g, towers); });
  def(m, "sync_replicas", [](GraphObject& g, H pairs, H step, int required, int total, H name, H apply, H after) {
    return sync_replicas(g, pairs, step, required, total, name, apply, after);
  });
  def(m, "sync_init_tokens", [](GraphObject& g, H queue, H step, int required, int total, int count) {
    return sync_init_tokens(g, queue, step, required, total, count);
  });
  nb::class_<OptimizerObject>(m, "Optimizer")
      .def("compute_gradients", &optimizer_gradients, nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(),
           nb::arg())
      .def("apply_gradients", &apply_gradients, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(),
           nb::arg().none())
      .def("set_use_locking", [](OptimizerObject& o, bool use) { o.get().set_use_locking(use); })
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
  bind_optimizers(m);
}

}  // namespace weir::python

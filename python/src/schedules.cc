// Learning-rate schedules and moving averages.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "weir/embedding.h"
#include "weir/moving_averages.h"
#include "weir/schedules.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

// The step as something of the graph: a number becomes a constant.
Output to_step(G graph, H step, const char* function) {
  if (step.is_none()) raise(PyExc_ValueError, "global_step is required for " + std::string(function) + ".");
  return to_output(graph, step, DType::Invalid, {});
}

// A schedule: `make(options, graph, rate, step, decay_steps, name)`, in a graph that step or rate may tell.
template <class Make>
nb::object schedule(G g, H rate, H step, H decay_steps, H name, const char* function, Make make) {
  return build(g, {step, rate}, [&](G graph) {
    const Output at = to_step(graph, step, function);
    return wrap(make(graph, to_in(graph, rate), at, to_in(graph, decay_steps), to_name(name)));
  });
}

using Decay = Output (*)(const In&, const In&, const In&, const In&, const train::DecayOptions&, std::string_view);

template <Decay function>
void def_decay(nb::module_& m, const char* name) {
  m.def(
      name,
      [name](G g, H rate, H step, H decay_steps, H decay_rate, H staircase, H node) {
        auto make = [&](G graph, const In& first, const Output& at, const In& steps, const std::string& label) {
          return function(first, at, steps, to_in(graph, decay_rate), {to_bool(staircase)}, label);
        };
        return schedule(g, rate, step, decay_steps, node, name, make);
      },
      named("graph"), named("learning_rate"), named("global_step"), named("decay_steps"), named("decay_rate"),
      option("staircase", train::DecayOptions().staircase), option("name", std::nullopt));
}

float to_float(H value, const char* name) { return static_cast<float>(to_double(value, name)); }

void bind_cosines(nb::module_& m) {
  const train::CosineDecayOptions cosine;
  m.def(
      "cosine_decay",
      [](G g, H rate, H step, H decay_steps, H alpha, H name) {
        auto make = [&](G, const In& first, const Output& at, const In& steps, const std::string& label) {
          return train::cosine_decay(first, at, steps, {to_float(alpha, "alpha")}, label);
        };
        return schedule(g, rate, step, decay_steps, name, "cosine_decay", make);
      },
      named("graph"), named("learning_rate"), named("global_step"), named("decay_steps"), option("alpha", cosine.alpha),
      option("name", std::nullopt));
  const train::CosineRestartsOptions restarts;
  m.def(
      "cosine_decay_restarts",
      [](G g, H rate, H step, H decay_steps, H t_mul, H m_mul, H alpha, H name) {
        auto make = [&](G, const In& first, const Output& at, const In& steps, const std::string& label) {
          train::CosineRestartsOptions options{to_float(t_mul, "t_mul"), to_float(m_mul, "m_mul"),
                                               to_float(alpha, "alpha")};
          return train::cosine_decay_restarts(first, at, steps, options, label);
        };
        return schedule(g, rate, step, decay_steps, name, "cosine_decay_restarts", make);
      },
      named("graph"), named("learning_rate"), named("global_step"), named("first_decay_steps"),
      option("t_mul", restarts.t_mul), option("m_mul", restarts.m_mul), option("alpha", restarts.alpha),
      option("name", std::nullopt));
  const train::LinearCosineDecayOptions linear;
  m.def(
      "linear_cosine_decay",
      [](G g, H rate, H step, H decay_steps, H periods, H alpha, H beta, H variance, H decay, H name) {
        auto make = [&](G, const In& first, const Output& at, const In& steps, const std::string& label) {
          train::LinearCosineDecayOptions options{to_float(periods, "num_periods"), to_float(alpha, "alpha"),
                                                  to_float(beta, "beta"), to_float(variance, "initial_variance"),
                                                  to_float(decay, "variance_decay")};
          return train::linear_cosine_decay(first, at, steps, options, label);
        };
        return schedule(g, rate, step, decay_steps, name, "linear_cosine_decay", make);
      },
      named("graph"), named("learning_rate"), named("global_step"), named("decay_steps"),
      option("num_periods", linear.num_periods), option("alpha", linear.alpha), option("beta", linear.beta),
      option("initial_variance", linear.initial_variance), option("variance_decay", linear.variance_decay),
      option("name", std::nullopt));
}

void bind_schedules(nb::module_& m) {
  def_decay<&train::exponential_decay>(m, "exponential_decay");
  def_decay<&train::natural_exp_decay>(m, "natural_exp_decay");
  def_decay<&train::inverse_time_decay>(m, "inverse_time_decay");
  bind_cosines(m);
  const train::PolynomialDecayOptions polynomial;
  m.def(
      "polynomial_decay",
      [](G g, H rate, H step, H decay_steps, H end, H power, H cycle, H name) {
        auto make = [&](G graph, const In& first, const Output& at, const In& steps, const std::string& label) {
          train::PolynomialDecayOptions options{to_in(graph, end), to_in(graph, power), to_bool(cycle)};
          return train::polynomial_decay(first, at, steps, options, label);
        };
        return schedule(g, rate, step, decay_steps, name, "polynomial_decay", make);
      },
      named("graph"), named("learning_rate"), named("global_step"), named("decay_steps"),
      option("end_learning_rate", polynomial.end_learning_rate), option("power", polynomial.power),
      option("cycle", polynomial.cycle), option("name", std::nullopt));
  def(m, "piecewise_constant", [](G g, H x, H boundaries, H values, H name) {
    return build(g, {x}, [&](G graph) {
      auto list = [&](H items) {
        std::vector<In> ins;
        for (H item : nb::iter(items)) ins.push_back(to_in(graph, item));
        return ins;
      };
      return wrap(train::piecewise_constant(to_in(graph, x), list(boundaries), list(values), to_name(name)));
    });
  });
}

using train::AveragedList;
using train::ExponentialMovingAverage;

AveragedList::Item to_item(H object) {
  if (const Variable* variable = variable_of(object)) return *variable;
  if (const Output* output = tensor_of(object)) return *output;
  raise(PyExc_TypeError, "The variables must be tf.Variable or Tensor, got " + text_of(object));
}

Operation apply_average(ExponentialMovingAverage& self, H list) {
  std::vector<AveragedList::Item> items;
  for (H object : nb::iter(list)) items.push_back(to_item(object));
  return self.apply(AveragedList(std::move(items)));
}

void bind_averages(nb::module_& m) {
  nb::class_<ExponentialMovingAverage>(m, "ExponentialMovingAverage")
      .def("apply", [](ExponentialMovingAverage& self, G g,
                       H list) { return build(g, {list}, [&](G) { return wrap(apply_average(self, list)); }); })
      .def("average", [](ExponentialMovingAverage& self, H item) { return wrap(self.average(to_item(item))); })
      .def("average_name", [](ExponentialMovingAverage& self, H item) { return self.average_name(to_item(item)); })
      .def(
          "variables_to_restore",
          [](ExponentialMovingAverage& self, G g, H averaged) {
            nb::dict names;
            std::vector<Variable> list;
            if (!averaged.is_none()) {
              for (H item : nb::iter(averaged)) list.push_back(variable_in(item));
            }
            auto found = averaged.is_none() ? self.variables_to_restore(g) : self.variables_to_restore(g, list);
            for (const auto& [name, variable] : found) names[nb::cast(name)] = wrap(variable);
            return names;
          },
          nb::arg(), nb::arg().none());
  const train::ExponentialMovingAverageOptions averages;
  m.def(
      "exponential_moving_average",
      [](G g, H decay, H num_updates, H zero_debias, const std::string& name) {
        return build(g, {decay, num_updates}, [&](G graph) {
          return ExponentialMovingAverage(to_in(graph, decay),
                                          {to_optional_in(graph, num_updates), to_bool(zero_debias), name});
        });
      },
      named("graph"), named("decay"), option("num_updates", std::nullopt), option("zero_debias", averages.zero_debias),
      option("name", averages.name));
  m.def(
      "assign_moving_average",
      [](const VariableObject& v, H value, H decay, H zero_debias, H name) {
        return build(graph_of(v), {}, [&](G graph) {
          return wrap(train::assign_moving_average(v.part, to_in(graph, value, v.part.dtype()), to_in(graph, decay),
                                                   {to_bool(zero_debias)}, to_name(name)));
        });
      },
      named("variable"), named("value"), named("decay"),
      option("zero_debias", train::MovingAverageOptions().zero_debias), option("name", std::nullopt));
}

}  // namespace

void bind_training(nb::module_& m) {
  bind_schedules(m);
  bind_averages(m);
}

}  // namespace weir::python

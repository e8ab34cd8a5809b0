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

using Decay = Output (*)(const In&, const In&, const In&, const In&, const train::DecayOptions&, std::string_view);

template <Decay function>
void def_decay(nb::module_& m, const char* name) {
  def(m, name, [](G g, H rate, H step, H decay_steps, H decay_rate, bool staircase, H node) {
    return build(g, {step, rate}, [&](G graph) {
      return wrap(function(to_in(graph, rate), to_in(graph, step), to_in(graph, decay_steps), to_in(graph, decay_rate),
                           {staircase}, to_name(node)));
    });
  });
}

void bind_schedules(nb::module_& m) {
  def_decay<&train::exponential_decay>(m, "exponential_decay");
  def_decay<&train::natural_exp_decay>(m, "natural_exp_decay");
  def_decay<&train::inverse_time_decay>(m, "inverse_time_decay");
  def(m, "polynomial_decay", [](G g, H rate, H step, H decay_steps, H end, H power, bool cycle, H name) {
    return build(g, {step, rate}, [&](G graph) {
      train::PolynomialDecayOptions options{to_in(graph, end), to_in(graph, power), cycle};
      return wrap(train::polynomial_decay(to_in(graph, rate), to_in(graph, step), to_in(graph, decay_steps), options,
                                          to_name(name)));
    });
  });
  def(m, "cosine_decay", [](G g, H rate, H step, H decay_steps, float alpha, H name) {
    return build(g, {step, rate}, [&](G graph) {
      return wrap(train::cosine_decay(to_in(graph, rate), to_in(graph, step), to_in(graph, decay_steps), {alpha},
                                      to_name(name)));
    });
  });
  def(m, "cosine_decay_restarts",
      [](G g, H rate, H step, H decay_steps, float t_mul, float m_mul, float alpha, H name) {
        return build(g, {step, rate}, [&](G graph) {
          return wrap(train::cosine_decay_restarts(to_in(graph, rate), to_in(graph, step), to_in(graph, decay_steps),
                                                   {t_mul, m_mul, alpha}, to_name(name)));
        });
      });
  def(m, "linear_cosine_decay",
      [](G g, H rate, H step, H decay_steps, float periods, float alpha, float beta, nb::tuple noise, H name) {
        return build(g, {step, rate}, [&](G graph) {
          train::LinearCosineDecayOptions options{periods, alpha, beta, nb::cast<float>(noise[0]),
                                                  nb::cast<float>(noise[1])};
          return wrap(train::linear_cosine_decay(to_in(graph, rate), to_in(graph, step), to_in(graph, decay_steps),
                                                 options, to_name(name)));
        });
      });
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
  PyErr_Format(PyExc_TypeError, "The variables must be tf.Variable or Tensor, got %s", nb::repr(object).c_str());
  throw nb::python_error();
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
              for (H item : nb::iter(averaged)) list.push_back(*variable_of(item));
            }
            auto found = averaged.is_none() ? self.variables_to_restore(g) : self.variables_to_restore(g, list);
            for (const auto& [name, variable] : found) names[nb::cast(name)] = wrap(variable);
            return names;
          },
          nb::arg(), nb::arg().none());
  def(m, "exponential_moving_average", [](G g, H decay, H num_updates, bool zero_debias, const std::string& name) {
    return build(g, {decay, num_updates}, [&](G graph) {
      return ExponentialMovingAverage(to_in(graph, decay), {to_optional_in(graph, num_updates), zero_debias, name});
    });
  });
  def(m, "assign_moving_average", [](const VariableObject& v, H value, H decay, bool zero_debias, H name) {
    return build(graph_of(v.part.handle().node()), {}, [&](G graph) {
      return wrap(train::assign_moving_average(v.part, to_in(graph, value, v.part.dtype()), to_in(graph, decay),
                                               {zero_debias}, to_name(name)));
    });
  });
}

}  // namespace

void bind_training(nb::module_& m) {
  bind_schedules(m);
  bind_averages(m);
}

}  // namespace weir::python

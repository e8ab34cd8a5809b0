// Collectives between processes: weir.distributed.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "gil.h"
#include "weir/collectives.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

std::optional<std::string> environment(const std::string& name) {
  // Python's own, which programs change: the process's may be older.
  nb::object value = nb::module_::import_("os").attr("environ").attr("get")(name);
  return value.is_none() ? std::nullopt : std::optional(nb::cast<std::string>(value));
}

// What the environment says, changed by what the program gives.
distributed::Options options_of(const nb::dict& given) {
  distributed::Options options = distributed::from_environment(environment);
  for (auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (value.is_none()) continue;
    if (name == "transport") {
      options.transport = nb::cast<std::string>(value);
    } else if (name == "rank") {
      options.rank = to_int(value, "rank");
    } else if (name == "size") {
      options.size = to_int(value, "size");
    } else if (name == "rendezvous") {
      options.rendezvous = nb::cast<std::string>(value);
    } else if (name == "timeout_secs") {
      options.timeout = std::chrono::milliseconds(static_cast<int64_t>(to_double(value, "timeout_secs") * 1000));
    } else if (name == "fusion_bytes") {
      options.fusion_bytes = static_cast<size_t>(to_int64(value, "fusion_bytes"));
    } else {
      raise(PyExc_TypeError, "init() has no option '" + name + "'");
    }
  }
  return options;
}

nb::object cluster_place(int port) {
  const auto place = distributed::cluster_from_environment(environment, port);
  if (!place) return nb::none();
  return nb::make_tuple(place->jobs, place->job, place->task);
}

nb::object allreduce(G g, H tensor, int reduction, H name) {
  return build(g, {tensor}, [&](G graph) {
    const std::string node = to_name(name);
    const distributed::AllreduceOptions options{.reduction = static_cast<distributed::Reduction>(reduction),
                                                .name = node};
    return wrap(distributed::allreduce_gradient(to_gradient(graph, tensor), options));
  });
}

}  // namespace

void bind_collectives(nb::module_& m) {
  m.def("collectives_init", [](const nb::dict& given) {
    const distributed::Options options = options_of(given);
    nb::gil_scoped_release release;
    distributed::init(options);
  });
  m.def("collectives_shutdown", [] {
    nb::gil_scoped_release release;
    distributed::shutdown();
  });
  m.def("collectives_initialized", &distributed::is_initialized);
  m.def("collectives_rank", &distributed::rank);
  m.def("collectives_size", &distributed::size);
  m.def("collectives_local_rank", &distributed::local_rank);
  m.def("collectives_local_size", &distributed::local_size);
  m.def("collectives_transport", &distributed::transport);
  m.def("cluster_from_environment", &cluster_place);
  def(m, "allreduce", [](G g, H tensor, int reduction, H name) { return allreduce(g, tensor, reduction, name); });
  def(m, "allgather", [](G g, H tensor, H name) {
    return build(g, {tensor}, [&](G graph) {
      return wrap(distributed::allgather(first_in(graph, tensor, "tensor"), to_name(name)));
    });
  });
  def(m, "broadcast", [](G g, H tensor, H root, H name) {
    return build(g, {tensor}, [&](G graph) {
      return wrap(distributed::broadcast(first_in(graph, tensor, "tensor"), to_int(root, "root_rank"), to_name(name)));
    });
  });
  def(m, "broadcast_variables", [](G g, H list, H root) {
    return build(g, {}, [&](G graph) {
      std::vector<Variable> variables;
      for (H item : nb::iter(list)) variables.push_back(variable_in(item));
      return wrap(distributed::broadcast_variables(graph, variables, to_int(root, "root_rank")));
    });
  });
}

}  // namespace weir::python

// Servers of a cluster.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "convert.h"
#include "gil.h"
#include "interrupt.h"
#include "weir/server.h"

namespace weir::python {
namespace {

train::Server* make_server(const train::ClusterSpec& cluster, const std::string& job, int task,
                           const std::string& protocol, nb::dict config, nb::dict security, bool start) {
  train::ServerOptions options;
  options.cluster = cluster;
  options.job = job;
  options.task = task;
  options.protocol = protocol;
  options.config = to_session_options(config);
  options.start = start;
  auto size = [&](const char* name, size_t& target) {
    if (security.contains(name)) target = static_cast<size_t>(to_int64(security[name], name));
  };
  auto flag = [&](const char* name, bool& target) {
    if (security.contains(name)) target = to_bool(security[name]);
  };
  size("max_message_bytes", options.max_message_bytes);
  size("max_graph_nodes", options.max_graph_nodes);
  size("max_sessions", options.max_sessions);
  flag("listen_to_network", options.listen_to_network);
  flag("untrusted_clients", options.untrusted_clients);
  try {
    Unlocked unlocked;
    return new train::Server(std::move(options));
  } catch (const Error& error) {
    raise_run_error(error, nullptr);
  }
}

// Waits until the server stops; Ctrl-C and the program's signal handlers end it.
void join(train::Server& server) {
  run_interruptibly([&](const std::stop_token& stop) {
    std::stop_callback on_stop(stop, [&] { server.stop(); });
    server.join();
  });
}

}  // namespace

void bind_server(nb::module_& m) {
  nb::class_<train::Server>(m, "Server")
      .def_static("_make", &make_server, nb::rv_policy::take_ownership)
      .def("_start", [](train::Server& s) { s.start(); })
      .def("_stop",
           [](train::Server& s) {
             Unlocked unlocked;
             s.stop();
           })
      .def("_join", &join)
      .def_prop_ro("_cluster", [](const train::Server& s) { return s.options().cluster; })
      .def_prop_ro("_job", [](const train::Server& s) { return s.options().job; })
      .def_prop_ro("_task", [](const train::Server& s) { return s.options().task; })
      .def_prop_ro("_target", &train::Server::target)
      .def("_status", &train::Server::status);
}

}  // namespace weir::python

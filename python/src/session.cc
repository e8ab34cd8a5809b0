// Sessions: runs, callables and runs in pieces, with interrupts.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/fork.h"
#include "interrupt.h"
#include "run_arguments.h"
#include "weir/partial_run.h"
#include "weir/queue_runner.h"

namespace weir::python {
namespace {

struct SessionObject {
  SessionObject(nb::pointer_and_handle<GraphObject> g, const SessionOptions& options) : graph(g.h.ptr()) {
    try {
      Unlocked unlocked;  // a server may be long in coming
      session = std::make_unique<Session>(*g.p, options);
    } catch (const Error& error) {
      raise_run_error(error, g.p);
    }
    Py_INCREF(graph);
  }
  ~SessionObject() {
    if (broken()) {
      static_cast<void>(session.release());  // what it would wait for is in another process
    } else if (!end()) {
      return;  // somebody may still use the graph
    }
    Py_XDECREF(graph);
  }
  SessionObject(const SessionObject&) = delete;
  SessionObject& operator=(const SessionObject&) = delete;
  GraphObject& graph_object() const { return *nb::inst_ptr<GraphObject>(nb::handle(graph)); }

  // Ends the session without the interpreter lock, which threads of its pipelines may be waiting for. At the end of the
  // interpreter those that are in the program's functions never come back: then it says false after a moment.
  bool end() {
    Unlocked unlocked;
    if (!interpreter_end().stop_requested()) {
      session.reset();
      return true;
    }
    auto ended = std::make_shared<std::promise<void>>();
    std::thread([s = session.release(), ended] {
      delete s;
      ended->set_value();
    }).detach();
    return ended->get_future().wait_for(std::chrono::milliseconds(500)) == std::future_status::ready;
  }

  // Whether the process was forked while threads that only the parent has were in the session: it may be in any state.
  bool broken() {
    if (forks != fork_count()) {
      torn = torn || running > 0;
      running = 0;
      forks = fork_count();
    }
    return torn;
  }
  // Throws RuntimeError when the session cannot be used.
  void require_usable() {
    if (closed) raise(PyExc_RuntimeError, "Attempted to use a closed Session.");
    if (broken()) {
      raise(PyExc_RuntimeError,
            "The Session was running when this process was forked from the one that made it, and cannot be used here. "
            "Make a new one in the child process.");
    }
  }

  PyObject* graph;
  std::unique_ptr<Session> session;
  bool closed = false;
  std::atomic<int> running = 0;  // runs, now
  uint64_t forks = fork_count();
  bool torn = false;
};

int traverse_session(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(attributes_of(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<SessionObject>(self)->graph);
  return 0;
}
int clear_session(PyObject* self) {
  clear_attributes(self);
  return 0;
}
PyType_Slot kSessionSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_session)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_session)},
                               {0, nullptr}};

// Counts the runs of a session while it lives.
class Running {
 public:
  explicit Running(SessionObject& session) : session_(session) { ++session_.running; }
  ~Running() { --session_.running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  SessionObject& session_;
};

// Runs without the interpreter lock; Ctrl-C ends it.
template <class Run>
void execute(SessionObject& session, RunOptions& options, Run run) {
  Running running(session);
  try {
    run_interruptibly([&](const std::stop_token& stop) {
      options.stop = stop;
      run();
    });
  } catch (const RaisedInRun& interrupt) {
    interrupt.raise_again();
  } catch (const Error& error) {
    if (error.code() == Code::Cancelled && PyErr_CheckSignals() != 0) throw nb::python_error();
    // Closed by another thread before any node ran.
    const bool not_begun = error.code() == Code::Cancelled && session.closed && error.node().empty();
    if (not_begun) raise(PyExc_RuntimeError, "Attempted to use a closed Session.");
    raise_run_error(error, &session.graph_object());
  }
}

RunOptions to_run_options(nb::handle options, nb::handle metadata, RunTrace& trace) {
  RunOptions result;
  if (!options.is_none()) {
    result.timeout = std::chrono::milliseconds(to_int64(options.attr("timeout_in_ms"), "timeout_in_ms"));
    constexpr int kNoTrace = 0;
    if (to_int(options.attr("trace_level"), "trace_level") != kNoTrace && !metadata.is_none()) result.trace = &trace;
  }
  return result;
}

void record(nb::handle metadata, const RunTrace& trace) {
  const std::string stats = trace.step_stats();
  package().record_metadata(metadata, nb::bytes(stats.data(), stats.size()));
}

// The session's graph, if it can be run.
GraphObject& runnable_graph(SessionObject& self) {
  self.require_usable();
  GraphObject& graph = self.graph_object();
  if (graph.version() == 0) {
    raise(PyExc_RuntimeError, "The Session graph is empty.  Add operations to the graph before calling run().");
  }
  return graph;
}

nb::object run(SessionObject& self, nb::handle fetches, nb::handle feed_dict, nb::handle options,
               nb::handle run_metadata) {
  GraphObject& graph = runnable_graph(self);
  Fetches wanted(graph, fetches, nb::find(self));
  const std::vector<Feed> feeds = to_feeds(graph, feed_dict);
  RunTrace trace;
  RunOptions run_options = to_run_options(options, run_metadata, trace);
  std::vector<Tensor> values(wanted.outputs.size());
  execute(self, run_options,
          [&] { self.session->run_into(wanted.outputs, feeds, wanted.targets, run_options, values); });
  if (run_options.trace) record(run_metadata, trace);
  // While the feeds hold their arrays, a fetch that is one of them is seen to be shared, and is copied.
  return wanted.build(values);
}

std::string partial_run_setup(SessionObject& self, nb::handle fetches, nb::handle feeds) {
  GraphObject& graph = runnable_graph(self);
  Fetches wanted(graph, fetches, nb::find(self));
  CallableSpec spec{.feeds = {}, .fetches = wanted.outputs, .targets = wanted.targets};
  for (nb::handle key : nb::iter(feeds)) {
    Output by_name;
    spec.feeds.push_back(feed_target(graph, key, by_name));
  }
  std::string handle;
  RunOptions options;
  execute(self, options, [&] { handle = self.session->partial_run_setup(spec); });
  return handle;
}

nb::object partial_run(SessionObject& self, const std::string& handle, nb::handle fetches, nb::handle feed_dict) {
  GraphObject& graph = runnable_graph(self);
  Fetches wanted(graph, fetches, nb::find(self));
  const std::vector<Feed> feeds = to_feeds(graph, feed_dict);
  std::vector<Tensor> values;
  RunOptions options;
  execute(self, options, [&] { values = self.session->partial_run(handle, wanted.outputs, feeds, options); });
  return wanted.build(values);
}

nb::list list_devices(SessionObject& self) {
  self.require_usable();
  std::vector<DeviceInfo> devices;
  RunOptions options;
  execute(self, options, [&] { devices = self.session->devices(); });
  nb::list list;
  for (const DeviceInfo& d : devices) list.append(nb::make_tuple(d.name, d.type, d.memory_limit, d.description));
  return list;
}

// The table of the quickest of some steps, which was disturbed least; the one before them makes the plan.
std::string profile(SessionObject& self, nb::handle fetches, nb::handle feed_dict, int steps) {
  if (steps < 1) raise(PyExc_ValueError, "steps must be at least 1, but is " + std::to_string(steps) + ".");
  GraphObject& graph = runnable_graph(self);
  Fetches wanted(graph, fetches, nb::find(self));
  const std::vector<Feed> feeds = to_feeds(graph, feed_dict);
  std::vector<Tensor> values(wanted.outputs.size());
  RunTrace best;
  auto length = [](const RunTrace& trace) { return trace.events.empty() ? 0 : trace.events.back().end_ns; };
  for (int i = 0; i <= steps; ++i) {
    RunTrace trace;
    RunOptions options{.trace = &trace};
    execute(self, options, [&] { self.session->run_into(wanted.outputs, feeds, wanted.targets, options, values); });
    if (i == 1 || (i > 1 && length(trace) < length(best))) best = std::move(trace);
  }
  return best.table();
}

// Fixed feeds and fetches; a call takes the fed values in order.
struct CallableObject {
  nb::object session, fetches;
  std::vector<Output> feeds;
  Session::Callable callable;
  std::unique_ptr<Fetches> wanted_;
  SessionObject& session_object() const { return *nb::inst_ptr<SessionObject>(session); }
};

int traverse_callable(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  auto* callable = nb::inst_ptr<CallableObject>(self);
  Py_VISIT(callable->session.ptr());
  Py_VISIT(callable->fetches.ptr());
  return callable->wanted_->traverse(visit, arg);
}
PyType_Slot kCallableSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_callable)}, {0, nullptr}};

nb::object call_with(CallableObject& self, nb::tuple args, nb::handle given_options, nb::handle run_metadata) {
  self.session_object().require_usable();
  if (args.size() != self.feeds.size()) {
    raise(PyExc_ValueError, "This callable takes " + std::to_string(self.feeds.size()) + " values, " +
                                std::to_string(args.size()) + " are given.");
  }
  std::vector<Tensor> feeds;
  feeds.reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i) feeds.push_back(make_feed(self.feeds[i], args[i]).value);
  std::vector<Tensor> values(self.callable.fetches());
  RunTrace trace;
  RunOptions options = to_run_options(given_options, run_metadata, trace);
  execute(self.session_object(), options, [&] { self.callable.call(feeds, values, options); });
  if (options.trace) record(run_metadata, trace);
  return self.wanted_->build(values);  // while the feeds live, as in run()
}

nb::object call(CallableObject& self, nb::args args) { return call_with(self, args, nb::none(), nb::none()); }

// Runs a callable without feeds or fetches again and again, without the interpreter lock, until the coordinator stops.
void repeat(CallableObject& self, const train::Coordinator& coordinator) {
  SessionObject& session = self.session_object();
  session.require_usable();
  RunOptions options;
  execute(session, options, [&] {
    std::stop_source source;
    auto stop = [&] { source.request_stop(); };
    std::stop_callback by_program(options.stop, stop), by_coordinator(coordinator.token(), stop);
    train::run_until_stopped(self.callable, source.get_token());
  });
}

CallableObject* make_callable(nb::pointer_and_handle<SessionObject> session, nb::handle fetches, nb::handle feed_list) {
  SessionObject& self = *session.p;
  self.require_usable();
  GraphObject& graph = self.graph_object();
  auto wanted = std::make_unique<Fetches>(graph, fetches, session.h);
  CallableSpec spec{.feeds = {}, .fetches = wanted->outputs, .targets = wanted->targets};
  if (!feed_list.is_none()) {
    for (nb::handle key : nb::iter(feed_list)) {
      Output by_name;
      spec.feeds.push_back(feed_target(graph, key, by_name));
    }
  }
  try {
    return new CallableObject{nb::borrow(session.h), nb::borrow(fetches), spec.feeds, self.session->make_callable(spec),
                              std::move(wanted)};
  } catch (const Error& error) {
    raise_run_error(error, &graph);
  }
}

// A run in pieces: what partial_run_setup gives a handle of.
struct PartialRunObject {
  PartialRunObject(SessionObject& session, const CallableSpec& spec) : run(*session.session, spec) {}
  PartialRun run;
};

PartialRunObject* begin_partial_run(SessionObject& self, nb::handle fetches, nb::handle feeds) {
  GraphObject& graph = runnable_graph(self);
  Fetches wanted(graph, fetches, nb::find(self));
  CallableSpec spec{.feeds = {}, .fetches = wanted.outputs, .targets = wanted.targets};
  for (nb::handle key : nb::iter(feeds)) {
    Output by_name;
    spec.feeds.push_back(feed_target(graph, key, by_name));
  }
  try {
    return new PartialRunObject(self, spec);
  } catch (const Error& error) {
    raise_run_error(error, &graph);
  }
}

nb::object continue_partial_run(SessionObject& self, PartialRunObject& partial, nb::handle fetches,
                                nb::handle feed_dict) {
  GraphObject& graph = runnable_graph(self);
  Fetches wanted(graph, fetches, nb::find(self));
  const std::vector<Feed> feeds = to_feeds(graph, feed_dict);
  std::vector<Tensor> values;
  RunOptions options;
  execute(self, options, [&] { values = partial.run.run(wanted.outputs, feeds, wanted.targets, options); });
  return wanted.build(values);
}

void switch_off(PassOptions& passes, const std::string& name) {
  if (name == "all") {
    passes = PassOptions::none();
    return;
  }
  const std::pair<const char*, bool*> fields[] = {{"fold_constants", &passes.fold_constants},
                                                  {"remove_identities", &passes.remove_identities},
                                                  {"share_common_subexpressions", &passes.share_common_subexpressions},
                                                  {"fuse_bias_activation", &passes.fuse_bias_activation},
                                                  {"fuse_elementwise", &passes.fuse_elementwise},
                                                  {"hoist_invariants", &passes.hoist_invariants}};
  auto field = std::find_if(std::begin(fields), std::end(fields), [&](const auto& f) { return name == f.first; });
  if (field == std::end(fields)) raise(PyExc_ValueError, "there is no pass '" + name + "'");
  *field->second = false;
}

}  // namespace

SessionOptions to_session_options(nb::dict given) {
  SessionOptions options;
  auto number = [&](const char* name, auto& target) {
    if (given.contains(name))
      target = static_cast<std::remove_reference_t<decltype(target)>>(to_int64(given[name], name));
  };
  number("intra_op_parallelism_threads", options.intra_op_parallelism_threads);
  number("inter_op_parallelism_threads", options.inter_op_parallelism_threads);
  if (given.contains("operation_timeout_in_ms")) {
    options.operation_timeout =
        std::chrono::milliseconds(to_int64(given["operation_timeout_in_ms"], "operation_timeout_in_ms"));
  }
  number("allow_soft_placement", options.allow_soft_placement);
  number("log_device_placement", options.log_device_placement);
  number("direct_convolutions", options.direct_convolutions);
  if (given.contains("device_count")) {
    for (auto [type, count] : nb::cast<nb::dict>(given["device_count"])) {
      options.device_count[to_name(type)] = to_int(count, "device_count");
    }
  }
  VirtualGpuOptions& gpus = options.virtual_gpus;
  if (given.contains("gpu_memory_fraction"))
    gpus.memory_fraction = to_double(given["gpu_memory_fraction"], "gpu_memory_fraction");
  number("gpu_memory_limit", gpus.memory_limit);
  number("allow_growth", gpus.allow_growth);
  if (given.contains("target")) options.target = to_name(given["target"]);
  if (given.contains("device_filters")) {
    for (nb::handle filter : nb::iter(given["device_filters"])) options.device_filters.push_back(to_name(filter));
  }
  number("isolate_session_state", options.isolate_session_state);
  if (given.contains("credentials")) {
    const nb::dict secrets = nb::cast<nb::dict>(given["credentials"]);
    ClusterCredentials& c = options.credentials;
    const std::pair<const char*, std::string*> fields[] = {{"ca_file", &c.ca_file},
                                                           {"certificate_file", &c.certificate_file},
                                                           {"key_file", &c.key_file},
                                                           {"token", &c.token}};
    for (auto [name, value] : secrets) {
      const std::string key = to_name(name);
      auto field = std::find_if(std::begin(fields), std::end(fields), [&](const auto& f) { return key == f.first; });
      if (field == std::end(fields)) raise(PyExc_ValueError, "credentials have no '" + key + "'");
      *field->second = to_name(value);
    }
  }
  if (given.contains("passes_off")) {
    for (nb::handle name : nb::iter(given["passes_off"])) switch_off(options.passes, to_name(name));
  }
  return options;
}

Session& session_of(nb::handle object) {
  if (!nb::isinstance<SessionObject>(object) || !nb::inst_ready(object)) {
    raise(PyExc_TypeError, "sess must be a tf.Session, but got " + text_of(object));
  }
  auto* session = nb::inst_ptr<SessionObject>(object);
  session->require_usable();
  return *session->session;
}

void bind_session(nb::module_& m) {
  nb::class_<PartialRunObject>(m, "PartialRun");
  nb::class_<SessionObject>(m, "Session", nb::dynamic_attr(), nb::is_weak_referenceable(),
                            nb::type_slots(kSessionSlots))
      .def("__init__", [](SessionObject* self, nb::pointer_and_handle<GraphObject> graph,
                          nb::dict options) { new (self) SessionObject(graph, to_session_options(options)); })
      .def("run", &run, nb::arg("fetches").none(), nb::arg("feed_dict").none() = nb::none(),
           nb::arg("options").none() = nb::none(), nb::arg("run_metadata").none() = nb::none())
      .def("profile", &profile, nb::arg("fetches").none(), nb::arg("feed_dict").none() = nb::none(),
           nb::arg("steps") = 5,
           "Runs a few steps and gives the table of the quickest: each node's time, share, rate and kernel.")
      .def("_make_callable", &make_callable, nb::arg("fetches").none(), nb::arg("feed_list").none(),
           nb::rv_policy::take_ownership)
      .def("_partial_run_setup", &partial_run_setup, nb::arg("fetches").none(), nb::arg("feeds"))
      .def("_partial_run", &partial_run, nb::arg("handle"), nb::arg("fetches").none(), nb::arg("feed_dict").none())
      .def("_list_devices", &list_devices)
      .def("_begin_partial_run", &begin_partial_run, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
      .def("_continue_partial_run", &continue_partial_run, nb::arg("partial"), nb::arg("fetches").none(),
           nb::arg("feed_dict").none())
      .def_prop_ro("graph", [](const SessionObject& s) { return nb::borrow(s.graph); })
      .def_prop_ro("_closed", [](const SessionObject& s) { return s.closed; })
      .def("_close",
           [](SessionObject& s) {
             s.closed = true;
             if (s.broken()) return;
             Unlocked unlocked;
             s.session->close();
           })
      .def("_reset", [](SessionObject& s, const std::vector<std::string>& containers) {
        s.closed = true;
        if (s.broken()) return;
        Unlocked unlocked;
        s.session->reset(containers);
      });
  nb::class_<CallableObject>(m, "Callable", nb::type_slots(kCallableSlots))
      .def("__call__", &call)
      .def("_repeat", &repeat, nb::arg("coordinator"))
      .def("_call", &call_with, nb::arg("values"), nb::arg("options").none(), nb::arg("run_metadata").none());
}

}  // namespace weir::python

// What stops threads together.
#include "interrupt.h"
#include "objects.h"
#include "weir/coordinator.h"

namespace weir::python {
namespace {

bool wait_for_stop(const train::Coordinator& self, nb::handle timeout) {
  std::optional<std::chrono::nanoseconds> limit;
  if (!timeout.is_none()) {
    constexpr double kLongest = 1e9;  // seconds
    const double seconds = std::clamp(nb::cast<double>(timeout), 0.0, kLongest);
    limit = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  }
  bool stopped = false;
  run_interruptibly([&](const std::stop_token& interrupt) { stopped = self.wait_for_stop(limit, interrupt); });
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return stopped;
}

}  // namespace

void bind_queues(nb::module_& m) {
  using train::Coordinator;
  nb::class_<Coordinator>(m, "Coordinator")
      .def(nb::init<>())
      .def("request_stop",
           [](Coordinator& self) {
             Unlocked unlocked;
             self.request_stop();
           })
      .def("should_stop", &Coordinator::should_stop)
      .def("clear_stop", &Coordinator::clear_stop)
      .def("wait_for_stop", &wait_for_stop, nb::arg("timeout").none());
}

}  // namespace weir::python

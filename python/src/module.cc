// The extension weir._weir: what the Python package needs of the C++ API.
#include <nanobind/stl/string.h>

#include <nanobind/stl/vector.h>

#include "command.h"
#include "objects.h"
#include "sequences.h"

namespace weir::python {
namespace {

void set_package(nb::dict given) {
  Package& p = package();
  struct Slot {
    const char* name;
    nb::object Package::*member;
  };
  constexpr Slot kSlots[] = {{"Tensor", &Package::tensor},
                             {"Operation", &Package::operation},
                             {"Variable", &Package::variable},
                             {"IndexedSlices", &Package::indexed_slices},
                             {"as_dtype", &Package::as_dtype},
                             {"dtypes", &Package::dtypes},
                             {"make_error", &Package::make_error},
                             {"make_build_error", &Package::make_build_error},
                             {"convert", &Package::convert},
                             {"expand_fetch", &Package::expand_fetch},
                             {"expand_feed", &Package::expand_feed},
                             {"tensor_handle", &Package::tensor_handle},
                             {"record_metadata", &Package::record_metadata},
                             {"gradient_types", &Package::gradient_types},
                             {"call_gradient", &Package::call_gradient},
                             {"call_function", &Package::call_function}};
  for (const Slot& slot : kSlots) {
    if (given.contains(slot.name)) p.*slot.member = given[slot.name];
  }
  if (given.contains("directory")) p.directory = nb::cast<std::string>(given["directory"]);
}

}  // namespace

NB_MODULE(_weir, m) {
  nb::set_leak_warnings(false);  // what programs leave open at exit is theirs
  m.def("set_package", &set_package);
  // Python calls what was registered first last: programs' own functions for the exit may still run sessions.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&at_interpreter_end));
  m.def("command_names", &tool::command_names);
  m.def("run_command", [](const std::vector<std::string>& arguments) { return tool::run_command(arguments); });
  bind_objects(m);
  bind_parts(m);
  bind_ops(m);
  bind_devices(m);
  bind_session(m);
  bind_server(m);
  bind_variables(m);
  bind_composed(m);
  bind_layer_calls(m);
  bind_flow(m);
  bind_cells(m);
  bind_sequences(m);
  bind_metrics(m);
  bind_functions(m);
  bind_distributions(m);
  bind_signal(m);
  bind_train(m);
  bind_training(m);
  bind_queues(m);
  bind_collectives(m);
  bind_image(m);
  bind_saved_models(m);
  bind_io(m);
  bind_callbacks(m);
  bind_old_numpy(m);
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& error) {
      try {
        raise_run_error(error);
      } catch (nb::python_error& raised) {
        raised.restore();
      }
    }
  });
}

}  // namespace weir::python

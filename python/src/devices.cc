// Names of devices, and the devices that there are.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "convert.h"
#include "weir/device.h"

namespace weir::python {
namespace {

// A part of a name that Python may give as any number or text of one (TensorFlow calls int()), or None.
std::optional<int> to_number(nb::handle value, const char* name) {
  if (value.is_none()) return std::nullopt;
  nb::object whole = nb::steal(PyNumber_Long(value.ptr()));
  if (!whole.is_valid()) throw nb::python_error();
  return to_int(whole, name);
}

template <auto Member>
void number(nb::class_<DeviceSpec>& spec, const char* name) {
  spec.def_prop_rw(
      name, [](const DeviceSpec& s) { return s.*Member; },
      [name](DeviceSpec& s, nb::handle value) { s.*Member = to_number(value, name); },
      nb::for_setter(nb::arg("value").none()));
}

}  // namespace

void bind_devices(nb::module_& m) {
  nb::class_<DeviceSpec> spec(m, "DeviceSpec", nb::dynamic_attr());
  spec.def(nb::init<>());
  spec.def_prop_rw(
      "job", [](const DeviceSpec& s) { return s.job; },
      [](DeviceSpec& s, std::optional<std::string> job) { s.job = std::move(job); },
      nb::for_setter(nb::arg("value").none()));
  number<&DeviceSpec::replica>(spec, "replica");
  number<&DeviceSpec::task>(spec, "task");
  number<&DeviceSpec::index>(spec, "device_index");
  spec.def_prop_rw(
          "device_type", [](const DeviceSpec& s) { return s.type; },
          [](DeviceSpec& s, std::optional<std::string> type) {
            s.type = type ? DeviceSpec::parse("/device:" + *type + ":*").type : std::nullopt;
          },
          nb::for_setter(nb::arg("value").none()))
      .def("_parse",
           [](DeviceSpec& s, std::string_view text) {
             try {
               s = DeviceSpec::parse(text);
             } catch (const Error& error) {
               raise_build_error(error);
             }
           })
      .def("_merge", [](DeviceSpec& s, const DeviceSpec& over) { s = over.merged_into(s); })
      .def("to_string", &DeviceSpec::str)
      .def("__eq__", [](const DeviceSpec& a, nb::handle b) {
        return nb::isinstance<DeviceSpec>(b) && a == nb::cast<const DeviceSpec&>(b);
      });
  m.def("list_local_devices", [](nb::dict options) {
    nb::list list;
    for (const DeviceInfo& device : list_local_devices(to_session_options(options))) {
      list.append(nb::make_tuple(device.name, device.type, device.memory_limit, device.description));
    }
    return list;
  });
}

}  // namespace weir::python

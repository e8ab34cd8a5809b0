// What numpy 2.4 took away from arrays with one element and programs of TensorFlow's time use: float(array), "%f" %
// array.
#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#include <numpy/arrayobject.h>

#include "objects.h"

namespace weir::python {
namespace {

unaryfunc numpys_int, numpys_float;

template <PyObject* (*kConvert)(PyObject*)>
PyObject* number_of(PyObject* self, unaryfunc numpys) {
  auto* array = reinterpret_cast<PyArrayObject*>(self);
  if (PyArray_NDIM(array) == 0 || PyArray_SIZE(array) != 1) return numpys(self);
  PyObject* item = PyArray_GETITEM(array, static_cast<const char*>(PyArray_DATA(array)));
  if (!item) return nullptr;
  PyObject* number = kConvert(item);
  Py_DECREF(item);
  return number;
}
PyObject* int_of(PyObject* self) { return number_of<PyNumber_Long>(self, numpys_int); }
PyObject* float_of(PyObject* self) { return number_of<PyNumber_Float>(self, numpys_float); }

// Subclasses (numpy.matrix) have copies of the pointers.
void replace_in(nb::handle type) {
  PyNumberMethods* methods = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_as_number;
  if (methods->nb_int == numpys_int) methods->nb_int = int_of;
  if (methods->nb_float == numpys_float) methods->nb_float = float_of;
  for (nb::handle derived : nb::list(type.attr("__subclasses__")())) replace_in(derived);
}

void arrays_of_one_element_are_numbers() {
  if (numpys_int) return;
  if (_import_array() < 0) throw nb::python_error();
  numpys_int = PyArray_Type.tp_as_number->nb_int;
  numpys_float = PyArray_Type.tp_as_number->nb_float;
  replace_in(reinterpret_cast<PyObject*>(&PyArray_Type));
}

}  // namespace

void bind_old_numpy(nb::module_& m) { m.def("arrays_of_one_element_are_numbers", &arrays_of_one_element_are_numbers); }

}  // namespace weir::python

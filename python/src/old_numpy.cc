// What numpy took away from arrays and programs of TensorFlow's time use: float(array) and "%f" % array of one element
// (until 2.4), such arrays of integers as sizes and positions, file.read(array) (until 1.12), the truth of an array
// without elements, `if array:` (until 2.2), lists of slices and floats as indices.
#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#include <numpy/arrayobject.h>

#include <utility>

#include "objects.h"

namespace weir::python {
namespace {

unaryfunc numpys_int, numpys_float, numpys_index;
inquiry numpys_bool;

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

PyObject* index_of(PyObject* self) {
  const bool whole = PyArray_ISINTEGER(reinterpret_cast<PyArrayObject*>(self));
  return whole ? number_of<PyNumber_Index>(self, numpys_index) : numpys_index(self);
}

int truth_of(PyObject* self) {
  return PyArray_SIZE(reinterpret_cast<PyArrayObject*>(self)) == 0 ? 0 : numpys_bool(self);
}

// Subclasses (numpy.matrix) have copies of the pointers.
void replace_in(nb::handle type) {
  PyNumberMethods* methods = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_as_number;
  if (methods->nb_int == numpys_int) methods->nb_int = int_of;
  if (methods->nb_float == numpys_float) methods->nb_float = float_of;
  if (methods->nb_index == numpys_index) methods->nb_index = index_of;
  if (methods->nb_bool == numpys_bool) methods->nb_bool = truth_of;
  for (nb::handle derived : nb::list(type.attr("__subclasses__")())) replace_in(derived);
}

binaryfunc numpys_subscript;
objobjargproc numpys_assign;

// The functions below return new references, or null with an error set.

bool is_float(PyObject* x) { return PyFloat_Check(x) || PyArray_IsScalar(x, Floating); }

// Until numpy 1.12 a float was cut to an integer where it was an index or a bound; programs slice by len(x) * 0.8.
PyObject* cut(PyObject* number) {
  if (is_float(number)) return PyNumber_Long(number);
  Py_INCREF(number);
  return number;
}

bool has_floats(PyObject* index) {
  if (!PySlice_Check(index)) return is_float(index);
  const auto* slice = reinterpret_cast<PySliceObject*>(index);
  return is_float(slice->start) || is_float(slice->stop) || is_float(slice->step);
}

PyObject* without_floats(PyObject* index) {
  if (!PySlice_Check(index)) return cut(index);
  const auto* slice = reinterpret_cast<PySliceObject*>(index);
  PyObject *start = cut(slice->start), *stop = cut(slice->stop), *step = cut(slice->step);
  PyObject* result = start && stop && step ? PySlice_New(start, stop, step) : nullptr;
  Py_XDECREF(start);
  Py_XDECREF(stop);
  Py_XDECREF(step);
  return result;
}

PyObject* tuple_without_floats(PyObject* tuple) {
  PyObject* result = PyTuple_New(PyTuple_GET_SIZE(tuple));
  for (Py_ssize_t i = 0; result && i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject* item = without_floats(PyTuple_GET_ITEM(tuple, i));
    if (!item)
      Py_CLEAR(result);
    else
      PyTuple_SET_ITEM(result, i, item);
  }
  return result;
}

// A list that holds a slice, an ellipsis or None was the same as a tuple until numpy 1.23.
PyObject* as_index(PyObject* index) {
  if (PyList_CheckExact(index)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(index); ++i) {
      PyObject* item = PyList_GET_ITEM(index, i);
      if (PySlice_Check(item) || item == Py_Ellipsis || item == Py_None) return PyList_AsTuple(index);
    }
  } else if (PyTuple_CheckExact(index)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
      if (has_floats(PyTuple_GET_ITEM(index, i))) return tuple_without_floats(index);
    }
  } else if (has_floats(index)) {
    return without_floats(index);
  }
  Py_INCREF(index);
  return index;
}

PyObject* subscript(PyObject* self, PyObject* index) {
  PyObject* taken = as_index(index);
  if (!taken) return nullptr;
  PyObject* result = numpys_subscript(self, taken);
  Py_DECREF(taken);
  return result;
}

int assign_subscript(PyObject* self, PyObject* index, PyObject* value) {
  PyObject* taken = as_index(index);
  if (!taken) return -1;
  const int result = numpys_assign(self, taken, value);
  Py_DECREF(taken);
  return result;
}

// Subclasses keep theirs: they call these through ndarray's slots.
void lists_of_slices_are_indices() {
  if (numpys_subscript) return;
  if (_import_array() < 0) throw nb::python_error();
  PyMappingMethods* methods = PyArray_Type.tp_as_mapping;
  numpys_subscript = std::exchange(methods->mp_subscript, subscript);
  numpys_assign = std::exchange(methods->mp_ass_subscript, assign_subscript);
}

void arrays_have_old_values() {
  if (numpys_int) return;
  if (_import_array() < 0) throw nb::python_error();
  numpys_int = PyArray_Type.tp_as_number->nb_int;
  numpys_float = PyArray_Type.tp_as_number->nb_float;
  numpys_index = PyArray_Type.tp_as_number->nb_index;
  numpys_bool = PyArray_Type.tp_as_number->nb_bool;
  replace_in(reinterpret_cast<PyObject*>(&PyArray_Type));
}

}  // namespace

void bind_old_numpy(nb::module_& m) {
  m.def("arrays_have_old_values", &arrays_have_old_values);
  m.def("lists_of_slices_are_indices", &lists_of_slices_are_indices);
}

}  // namespace weir::python

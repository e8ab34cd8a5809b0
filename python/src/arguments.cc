// What Python programs give as arguments and are given back, other than values: types, shapes, names, numbers, tensors.

#include <nanobind/stl/string.h>

#include "base/errors.h"
#include "convert.h"
#include "graph/graph_impl.h"
#include "graph/variables.h"
#include "weir/math_ops.h"

namespace weir::python {
namespace {

const Output* find_tensor_within(nb::handle value, int depth) {
  if (const Output* output = tensor_of(value)) return output;
  if (const Variable* variable = variable_of(value)) {
    static thread_local Output read;
    read = variable->value();
    return &read;
  }
  if (depth < kDeepest && (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()))) {
    for (nb::handle item : value) {
      if (const Output* found = find_tensor_within(item, depth + 1)) return found;
    }
  }
  return nullptr;
}

struct FromAttr {
  nb::object operator()(int64_t v) const { return nb::cast(v); }
  nb::object operator()(float v) const { return nb::cast(v); }
  nb::object operator()(bool v) const { return nb::cast(v); }
  nb::object operator()(const std::string& v) const { return nb::bytes(v.data(), v.size()); }
  nb::object operator()(DType v) const { return from_dtype(v); }
  nb::object operator()(const Shape& v) const { return from_shape(v); }
  nb::object operator()(const Tensor& v) const { return to_numpy(Tensor(v), true); }
  nb::object operator()(const FunctionName& v) const { return nb::cast(v.name); }
  template <class T>
  nb::object operator()(const std::vector<T>& list) const {
    nb::list items;
    for (const auto& item : list) items.append((*this)(static_cast<T>(item)));
    return items;
  }
};

}  // namespace

nb::object checked(PyObject* object) {
  if (!object) throw nb::python_error();
  return nb::steal(object);
}

std::string to_bytes(nb::handle item) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_Check(item.ptr())) {
    PyBytes_AsStringAndSize(item.ptr(), &data, &size);
    return std::string(data, static_cast<size_t>(size));
  }
  if (PyUnicode_Check(item.ptr())) {
    const char* text = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
    if (!text) throw nb::python_error();
    return std::string(text, static_cast<size_t>(size));
  }
  if (PyByteArray_Check(item.ptr())) return to_bytes(checked(PyBytes_FromObject(item.ptr())));
  raise(PyExc_TypeError, "Expected binary or unicode string, got " + text_of(item));
}

std::string type_name(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return "float32";
    case DType::Float64:
      return "float64";
    case DType::Float16:
      return "float16";
    default:
      return std::string(dtype_name(dtype));
  }
}

DType to_dtype(nb::handle value) {
  if (value.is_none()) return DType::Invalid;
  nb::object dtype = nb::hasattr(value, "_enum") ? nb::borrow(value) : package().as_dtype(value);
  const auto type = static_cast<DType>(to_int(dtype.attr("_enum"), "dtype"));
  from_dtype(type);                // throws for a number that is no type's
  constexpr int kReference = 100;  // what a program says of a variable's type holds for its values
  return static_cast<int>(type) > kReference ? static_cast<DType>(static_cast<int>(type) - kReference) : type;
}

nb::object from_dtype(DType dtype) {
  nb::int_ number(static_cast<int>(dtype));
  PyObject* found = PyDict_GetItemWithError(package().dtypes.ptr(), number.ptr());
  if (!found && PyErr_Occurred()) throw nb::python_error();
  if (!found) raise(PyExc_TypeError, "there is no data type of number " + std::to_string(static_cast<int>(dtype)));
  return nb::borrow(found);
}

Shape to_shape(nb::handle value) {
  if (value.is_none()) return Shape::unknown();
  if (nb::hasattr(value, "_dims")) return to_shape(value.attr("_dims"));
  auto size = [](nb::handle item) -> int64_t {
    if (item.is_none()) return kUnknown;
    if (nb::hasattr(item, "_dimension")) {
      nb::object known = item.attr("value");
      return known.is_none() ? kUnknown : to_int64(known, "dimension");
    }
    const int64_t number = to_int64(item, "dimension");
    if (number < -1) raise(PyExc_ValueError, "Dimension " + std::to_string(number) + " must be >= 0");
    return number < 0 ? kUnknown : number;
  };
  Shape shape{};
  if (PyIndex_Check(value.ptr()) && !nb::hasattr(value, "__len__")) {
    shape.append(size(value));
    return shape;
  }
  if (nb::hasattr(value, "dim") && nb::hasattr(value, "unknown_rank")) {  // TensorShapeProto
    if (to_bool(value.attr("unknown_rank"))) return Shape::unknown();
    for (nb::handle dim : value.attr("dim")) shape.append(size(dim.attr("size")));
    return shape;
  }
  for (nb::handle item : nb::iter(value)) shape.append(size(item));
  return shape;
}

nb::object from_shape(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  nb::list dims;
  for (int64_t dim : shape.dims()) dims.append(dim == kUnknown ? nb::object(nb::none()) : nb::cast(dim));
  return nb::tuple(dims);
}

std::string to_name(nb::handle value) {
  if (value.is_none()) return {};
  return to_bytes(value);
}

int64_t to_int64(nb::handle value, const char* name) {
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    raise(PyExc_TypeError, "Expected int for argument '" + std::string(name) + "' not " + text_of(value) + ".");
  }
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) {
    raise(PyExc_ValueError,
          "Argument '" + std::string(name) + "' is " + text_of(value) + ", which is no 64-bit integer.");
  }
  return number;
}

int to_int(nb::handle value, const char* name) {
  const int64_t number = to_int64(value, name);
  if (!std::in_range<int>(number)) {
    raise(PyExc_ValueError,
          "Argument '" + std::string(name) + "' is " + std::to_string(number) + ", which is no 32-bit integer.");
  }
  return static_cast<int>(number);
}

double to_double(nb::handle value, const char* name) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number != -1 || !PyErr_Occurred()) return number;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  raise(PyExc_TypeError, "Expected float for argument '" + std::string(name) + "' not " + text_of(value) + ".");
}

bool to_bool(nb::handle value) {
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

std::string text_of(nb::handle object) {
  nb::object text = checked(PyObject_Repr(object.ptr()));
  constexpr Py_ssize_t kLongest = 200;
  if (PyUnicode_GET_LENGTH(text.ptr()) > kLongest) text = checked(PyUnicode_Substring(text.ptr(), 0, kLongest));
  nb::object bytes = checked(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  return to_bytes(bytes);
}

nb::object readable(std::string_view text) {
  return checked(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

const Output* find_tensor(nb::handle value) { return find_tensor_within(value, 0); }

namespace {

// What a conversion function of the package or the program gave.
const Output& converted_tensor(nb::handle converted) {
  const Output* output = tensor_of(converted);
  if (!output) raise(PyExc_RuntimeError, "A conversion function must give a Tensor, not " + text_of(converted));
  return *output;
}

// Inside lists, where a type is asked for, tensors of other types are cast to it, as TensorFlow 1.15 does.
Output in_list(const Output& item, DType want) {
  return want == DType::Invalid || item.dtype() == want ? item : cast(item, want);
}

// `want` is Invalid where any type will do; `pack` is what lists become then.
Output to_output_within(GraphObject& graph, nb::handle value, DType want, DType pack, std::string_view name,
                        int depth) {
  if (const Output* output = tensor_of(value)) return depth == 0 ? *output : in_list(*output, want);
  if (const Variable* variable = variable_of(value)) {
    return depth == 0 ? value_here(*variable) : in_list(value_here(*variable), want);
  }
  if (const Output* inside = find_tensor(value)) {
    if (depth == kDeepest) raise(PyExc_ValueError, "Argument must be a dense tensor: lists are nested too deeply");
    if (pack == DType::Invalid) pack = inside->dtype();
    std::string full = graph.unique_name(name.empty() ? "packed" : name);
    std::vector<Output> items;
    {
      Scope scope = graph.name_scope(full + "/");
      int64_t index = 0;
      for (nb::handle item : value) {
        items.push_back(to_output_within(graph, item, want, pack, std::to_string(index++), depth + 1));
      }
    }
    const auto count = static_cast<int64_t>(items.size());
    return graph
        .add({.op = "Pack",
              .name = full,
              .exact_name = true,
              .inputs = std::move(items),
              .attrs = {{"N", count}, {"axis", int64_t{0}}},
              .line = graph.impl().scopes.line.value_or(SourceLine{})})
        .output();
  }
  if (!is_array(value) && !PyLong_Check(value.ptr()) && !PyFloat_Check(value.ptr())) {
    nb::object converted = package().convert(value, from_dtype(pack), readable(name));
    if (!converted.is_none()) return converted_tensor(converted);
  }
  return graph.constant(to_tensor(value, pack, false), name);
}

}  // namespace

Output to_output(GraphObject& graph, nb::handle value, DType want, std::string_view name) {
  need_numpy();
  return to_output_within(graph, value, want, want, name, 0);
}

In to_in(GraphObject& graph, nb::handle value, DType want) {
  need_numpy();
  if (const Output* output = tensor_of(value)) return *output;
  if (const Variable* variable = variable_of(value)) return *variable;
  if (find_tensor(value)) return to_output(graph, value, want, {});
  if (want == DType::Invalid) {
    if (PyBool_Check(value.ptr())) return In(value.ptr() == Py_True);
    if (PyLong_CheckExact(value.ptr())) return In(to_int64(value, "value"));
    if (PyFloat_CheckExact(value.ptr())) return In(PyFloat_AS_DOUBLE(value.ptr()));
  }
  if (!is_array(value) && !PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
    nb::object converted = package().convert(value, from_dtype(want), nb::none());
    if (!converted.is_none()) return converted_tensor(converted);
  }
  return to_tensor(value, want, false);
}

In to_value(GraphObject& graph, nb::handle value) {
  const bool number = PyLong_CheckExact(value.ptr()) || PyFloat_CheckExact(value.ptr()) || PyBool_Check(value.ptr());
  if (!number) return to_in(graph, value);
  need_numpy();
  return to_tensor(value, DType::Invalid, false);
}

std::optional<In> to_optional_in(GraphObject& graph, nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return to_in(graph, value);
}

nb::object from_attr(const AttrValue& value) { return std::visit(FromAttr{}, value); }

std::vector<Operation> to_operations(nb::handle list) {
  std::vector<Operation> operations;
  for (nb::handle item : nb::iter(list)) {
    if (const Output* output = tensor_of(item)) {
      operations.push_back(output->op());
    } else if (const Operation* operation = operation_of(item)) {
      operations.push_back(*operation);
    } else if (const Variable* variable = variable_of(item)) {
      operations.push_back(variable->value().op());
    } else {
      PyErr_Format(PyExc_TypeError, "Can not convert a %s into an Operation or Tensor.", Py_TYPE(item.ptr())->tp_name);
      throw nb::python_error();
    }
  }
  return operations;
}

Gradient to_gradient(GraphObject& graph, nb::handle value) {
  if (value.is_none()) return {};
  if (nb::isinstance(value, package().indexed_slices)) {
    nb::object dense_shape = value.attr("dense_shape");
    return IndexedSlices{to_output(graph, value.attr("values"), DType::Invalid, {}),
                         to_output(graph, value.attr("indices"), DType::Invalid, {}),
                         dense_shape.is_none() ? Output() : to_output(graph, dense_shape, DType::Invalid, {})};
  }
  return to_output(graph, value, DType::Invalid, {});
}

}  // namespace weir::python

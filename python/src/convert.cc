#include "convert.h"

#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#include <numpy/arrayobject.h>

#include <nanobind/stl/string.h>

#include <cstring>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/variables.h"

namespace weir::python {
namespace {

struct NumpyType {
  DType dtype;
  int number;
};
constexpr NumpyType kNumpyTypes[] = {{DType::Float32, NPY_FLOAT32},     {DType::Float64, NPY_FLOAT64},
                                     {DType::Int32, NPY_INT32},         {DType::Int64, NPY_INT64},
                                     {DType::UInt8, NPY_UINT8},         {DType::Bool, NPY_BOOL},
                                     {DType::Float16, NPY_FLOAT16},     {DType::Int8, NPY_INT8},
                                     {DType::Int16, NPY_INT16},         {DType::UInt16, NPY_UINT16},
                                     {DType::UInt32, NPY_UINT32},       {DType::UInt64, NPY_UINT64},
                                     {DType::Complex64, NPY_COMPLEX64}, {DType::Complex128, NPY_COMPLEX128}};

// -1 where numpy has none.
int numpy_number(DType dtype) {
  for (const NumpyType& type : kNumpyTypes) {
    if (type.dtype == dtype) return type.number;
  }
  return -1;
}

DType dtype_of_array(PyArrayObject* array) {
  const int number = PyArray_TYPE(array);
  for (const NumpyType& type : kNumpyTypes) {
    if (type.number == number) return type.dtype;
  }
  // Types of equal size under other names: long long, and int on other systems.
  PyArray_Descr* descr = PyArray_DESCR(array);
  if (PyTypeNum_ISINTEGER(number)) {
    const bool is_signed = PyTypeNum_ISSIGNED(number);
    switch (PyDataType_ELSIZE(descr)) {
      case 4:
        return is_signed ? DType::Int32 : DType::UInt32;
      case 8:
        return is_signed ? DType::Int64 : DType::UInt64;
      default:
        break;
    }
  }
  if (number == NPY_STRING || number == NPY_UNICODE || number == NPY_OBJECT) return DType::String;
  return DType::Invalid;
}

nb::object checked(PyObject* object) {
  if (!object) throw nb::python_error();
  return nb::steal(object);
}

Shape array_shape(PyArrayObject* array) {
  Shape shape{};
  for (int i = 0; i < PyArray_NDIM(array); ++i) shape.append(PyArray_DIM(array, i));
  return shape;
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

Tensor string_tensor(PyArrayObject* array) {
  // As objects, so that each item is bytes or str.
  nb::object objects = checked(
      PyArray_FROMANY(reinterpret_cast<PyObject*>(array), NPY_OBJECT, 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST));
  auto* items = reinterpret_cast<PyArrayObject*>(objects.ptr());
  Tensor tensor(DType::String, array_shape(items));
  auto* from = static_cast<PyObject**>(PyArray_DATA(items));
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_data<std::string>()[i] = to_bytes(from[i]);
  return tensor;
}

// A plain array of a type that Weir has, as a tensor.
Tensor tensor_over(PyArrayObject* array, DType dtype, bool borrow) {
  if (!borrow) {
    Tensor tensor(dtype, array_shape(array));
    if (tensor.bytes() > 0) std::memcpy(tensor.mutable_raw(), PyArray_DATA(array), tensor.bytes());
    return tensor;
  }
  auto* object = reinterpret_cast<PyObject*>(array);
  Py_INCREF(object);
  Buffer* buffer =
      Buffer::borrow(PyArray_DATA(array), static_cast<size_t>(PyArray_NBYTES(array)), [object] { release(object); });
  return Tensor(dtype, array_shape(array), buffer, PyArray_DATA(array));
}

Tensor array_to_tensor(PyArrayObject* array, DType want, bool borrow) {
  DType dtype = dtype_of_array(array);
  if (dtype == DType::Invalid) {
    raise(PyExc_TypeError,
          "Weir has no type for arrays of " + text_of(reinterpret_cast<PyObject*>(PyArray_DESCR(array))));
  }
  if (want == DType::Invalid) want = dtype;
  if (want == DType::String || dtype == DType::String) {
    if (want != dtype) {
      raise(PyExc_TypeError,
            "Expected " + std::string(dtype_name(want)) + ", got an array of " + std::string(dtype_name(dtype)));
    }
    return string_tensor(array);
  }
  if (want == DType::BFloat16) {
    Tensor floats = array_to_tensor(array, DType::Float32, true);
    Tensor tensor(want, floats.shape());
    for (int64_t i = 0; i < floats.elements(); ++i) {
      tensor.mutable_data<BFloat16>()[i] = BFloat16(floats.data<float>()[static_cast<size_t>(i)]);
    }
    return tensor;
  }
  const int number = numpy_number(want);
  if (number < 0) raise(PyExc_TypeError, "an array cannot become " + std::string(dtype_name(want)));
  if (PyArray_IS_C_CONTIGUOUS(array) && PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array) && dtype == want) {
    return tensor_over(array, want, borrow);
  }
  nb::object plain = checked(PyArray_FROMANY(reinterpret_cast<PyObject*>(array), number, 0, 0,
                                             NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST | NPY_ARRAY_NOTSWAPPED));
  return tensor_over(reinterpret_cast<PyArrayObject*>(plain.ptr()), want, true);
}

const char* kind_of(DType dtype) {
  if (dtype == DType::Bool) return "bool";
  if (dtype == DType::String) return "string";
  if (is_integer(dtype)) return "int";
  return is_floating(dtype) ? "float" : "complex";
}

// What Python's own numbers may become: ints anything numeric, floats no ints, and so on. True is the int 1.
bool compatible(DType natural, DType want) {
  if (natural == want) return true;
  if (natural == DType::String || want == DType::Bool || want == DType::String) return false;
  if (natural == DType::Bool) return true;
  if (is_integer(want)) return is_integer(natural);
  if (is_floating(want)) return is_integer(natural) || is_floating(natural);
  return is_complex(want);
}

// Python's numbers, strings and (nested) lists of them.
Tensor python_to_tensor(nb::handle value, DType want) {
  // Texts become arrays of objects: numpy's own fixed-width strings lose trailing zero bytes.
  const bool text = PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr());
  if (text || want == DType::String) {
    if (want != DType::Invalid && want != DType::String) {
      raise(PyExc_TypeError, "Expected " + std::string(dtype_name(want)) + ", got " + text_of(value) + " of type '" +
                                 Py_TYPE(value.ptr())->tp_name + "' instead.");
    }
    if (text) return Tensor(to_bytes(value));
  }
  PyObject* made =
      PyArray_FROMANY(value.ptr(), want == DType::String ? NPY_OBJECT : NPY_NOTYPE, 0, 0, NPY_ARRAY_CARRAY);
  if (!made) {
    // What numpy says of lists that are no arrays; anything else (Ctrl-C, no memory) is not about the value.
    if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    raise(PyExc_ValueError, "Argument must be a dense tensor: " + text_of(value));
  }
  nb::object array = nb::steal(made);
  auto* a = reinterpret_cast<PyArrayObject*>(array.ptr());
  if (PyArray_TYPE(a) == NPY_OBJECT && want != DType::String && PyArray_SIZE(a) > 0) {
    nb::handle first(static_cast<PyObject**>(PyArray_DATA(a))[0]);
    if (!PyBytes_Check(first.ptr()) && !PyUnicode_Check(first.ptr())) {
      raise(PyExc_TypeError,
            "Failed to convert " + text_of(value) + " of type '" + Py_TYPE(value.ptr())->tp_name + "' to a tensor.");
    }
  }
  if (PyArray_TYPE(a) == NPY_UNICODE || PyArray_TYPE(a) == NPY_STRING) {
    array = checked(PyArray_FROMANY(value.ptr(), NPY_OBJECT, 0, 0, NPY_ARRAY_CARRAY));
    a = reinterpret_cast<PyArrayObject*>(array.ptr());
  }
  DType natural = dtype_of_array(a);
  if (want == DType::Invalid) {
    want = natural;
    if (natural == DType::Float64) want = DType::Float32;
    if (natural == DType::Int64) {
      want = DType::Int32;
      const auto* numbers = static_cast<const int64_t*>(PyArray_DATA(a));
      for (npy_intp i = 0; i < PyArray_SIZE(a); ++i) {
        if (!std::in_range<int32_t>(numbers[i])) want = DType::Int64;
      }
    }
  } else if (natural != DType::Invalid && !compatible(natural, want) && PyArray_SIZE(a) > 0) {
    raise(PyExc_TypeError, "Expected " + std::string(dtype_name(want)) + ", got " + text_of(value) + " of type '" +
                               kind_of(natural) + "' instead.");
  } else if (is_integer(want) && natural == DType::Int64 && want != DType::Int64) {
    // A number that does not fit is an error, not a remainder.
    nb::object narrow =
        checked(PyArray_FROMANY(array.ptr(), numpy_number(want), 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST));
    nb::object back = checked(PyArray_FROMANY(narrow.ptr(), NPY_INT64, 0, 0, NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST));
    if (std::memcmp(PyArray_DATA(reinterpret_cast<PyArrayObject*>(back.ptr())), PyArray_DATA(a),
                    static_cast<size_t>(PyArray_NBYTES(a))) != 0) {
      raise(PyExc_ValueError, "a number of " + text_of(value) + " does not fit type " + std::string(dtype_name(want)));
    }
  }
  return array_to_tensor(a, want, true);
}

// Deeper lists are no tensors: shapes have no more dimensions. A list may even hold itself.
constexpr int kDeepest = 254;

// Lists of numpy arrays and of shapes, and objects with __array__, are numpy's business; what it cannot know is not.
nb::object simplify(nb::handle value, int depth = 0) {
  if (nb::hasattr(value, "_dims")) {  // TensorShape
    nb::object dims = value.attr("_dims");
    if (dims.is_none()) raise(PyExc_ValueError, "Cannot convert a partially known TensorShape to a Tensor: <unknown>");
    for (nb::handle dim : dims) {
      if (dim.is_none()) {
        raise(PyExc_ValueError, "Cannot convert a partially known TensorShape to a Tensor: " + text_of(value));
      }
    }
    if (nb::len(dims) == 0) {
      npy_intp zero = 0;
      return checked(PyArray_SimpleNew(1, &zero, NPY_INT32));
    }
    return nb::list(dims);
  }
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    if (depth == kDeepest) raise(PyExc_ValueError, "Argument must be a dense tensor: lists are nested too deeply");
    nb::list items;
    bool changed = false;
    for (nb::handle item : value) {
      nb::object simple = simplify(item, depth + 1);
      changed |= !simple.is(item);
      items.append(simple);
    }
    return changed ? nb::object(items) : nb::borrow(value);
  }
  if (nb::hasattr(value, "_dimension")) {  // Dimension
    nb::object size = value.attr("value");
    if (size.is_none()) raise(PyExc_ValueError, "Cannot convert an unknown Dimension to a Tensor: ?");
    return size;
  }
  return nb::borrow(value);
}

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

void need_numpy() {
  static bool loaded = false;
  if (loaded) return;
  if (_import_array() < 0) throw nb::python_error();
  loaded = true;
}

Tensor to_tensor(nb::handle value, DType want, bool borrow) {
  need_numpy();
  if (PyArray_Check(value.ptr())) {
    return array_to_tensor(reinterpret_cast<PyArrayObject*>(value.ptr()), want, borrow);
  }
  if (PyFloat_CheckExact(value.ptr()) && (want == DType::Float32 || want == DType::Invalid)) {
    return Tensor(static_cast<float>(PyFloat_AS_DOUBLE(value.ptr())));
  }
  if (value.is_none()) raise(PyExc_ValueError, "None values not supported.");
  if (PyArray_CheckScalar(value.ptr())) {
    nb::object array = checked(PyArray_FROMANY(value.ptr(), NPY_NOTYPE, 0, 0, NPY_ARRAY_CARRAY));
    return array_to_tensor(reinterpret_cast<PyArrayObject*>(array.ptr()), want, true);
  }
  nb::object simple = simplify(value);
  if (PyArray_Check(simple.ptr())) return array_to_tensor(reinterpret_cast<PyArrayObject*>(simple.ptr()), want, true);
  if (!PyList_Check(simple.ptr()) && !PyTuple_Check(simple.ptr()) && nb::hasattr(simple, "__array__")) {
    nb::object array = checked(PyArray_FROMANY(simple.ptr(), NPY_NOTYPE, 0, 0, NPY_ARRAY_CARRAY));
    return array_to_tensor(reinterpret_cast<PyArrayObject*>(array.ptr()), want, true);
  }
  return python_to_tensor(simple, want);
}

std::string type_name(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float32";
    case DType::Float64: return "float64";
    case DType::Float16: return "float16";
    default: return std::string(dtype_name(dtype));
  }
}

DType array_dtype(nb::handle value) {
  need_numpy();
  return PyArray_Check(value.ptr()) ? dtype_of_array(reinterpret_cast<PyArrayObject*>(value.ptr())) : DType::Invalid;
}

Tensor to_feed(nb::handle value, DType want) {
  need_numpy();
  if (want == DType::String || value.is_none()) return to_tensor(value, want, true);
  if (PyArray_Check(value.ptr())) {
    auto* array = reinterpret_cast<PyArrayObject*>(value.ptr());
    const DType natural = dtype_of_array(array);
    if (natural != DType::String && natural != DType::Invalid) return array_to_tensor(array, want, true);
  } else if (PyFloat_CheckExact(value.ptr()) && want == DType::Float32) {
    return Tensor(static_cast<float>(PyFloat_AS_DOUBLE(value.ptr())));
  }
  const int number = numpy_number(want == DType::BFloat16 ? DType::Float32 : want);
  if (number < 0) raise(PyExc_TypeError, "a tensor of " + std::string(dtype_name(want)) + " cannot be fed");
  PyObject* made = PyArray_FROMANY(simplify(value).ptr(), number, 0, 0,
                                   NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST | NPY_ARRAY_NOTSWAPPED);
  if (!made && PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
    raise(PyExc_TypeError, "Type of feed value " + text_of(value) + " with type " +
                               text_of(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()))) +
                               " is not compatible with Tensor type " + std::string(dtype_name(want)) +
                               ". Try explicitly setting the type of the feed tensor to a larger type (e.g. int64).");
  }
  nb::object array = checked(made);
  return array_to_tensor(reinterpret_cast<PyArrayObject*>(array.ptr()), want, true);
}

nb::object to_numpy(Tensor&& tensor, bool scalars_as_arrays) {
  need_numpy();
  npy_intp dims[32];
  const int rank = tensor.shape().rank();
  if (rank > 32) raise(PyExc_ValueError, "numpy has no arrays of more than 32 dimensions");
  for (int i = 0; i < rank; ++i) dims[i] = static_cast<npy_intp>(tensor.shape()[i]);

  if (tensor.dtype() == DType::String) {
    auto text = [](const std::string& s) {
      return PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
    };
    if (rank == 0 && !scalars_as_arrays) return checked(text(tensor.data<std::string>()[0]));
    nb::object array = checked(PyArray_SimpleNew(rank, dims, NPY_OBJECT));
    auto** to = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
    for (const std::string& s : tensor.data<std::string>()) {
      Py_XDECREF(*to);
      *to++ = checked(text(s)).release().ptr();
    }
    return array;
  }
  if (tensor.dtype() == DType::BFloat16) {
    Tensor floats(DType::Float32, tensor.shape());
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      floats.mutable_data<float>()[i] = static_cast<float>(tensor.data<BFloat16>()[static_cast<size_t>(i)]);
    }
    return to_numpy(std::move(floats), scalars_as_arrays);
  }
  const int number = numpy_number(tensor.dtype());
  if (number < 0) raise(PyExc_TypeError, "a tensor of " + std::string(dtype_name(tensor.dtype())) + " has no value");
  if (rank == 0 && !scalars_as_arrays) {
    nb::object descr = checked(reinterpret_cast<PyObject*>(PyArray_DescrFromType(number)));
    return checked(
        PyArray_Scalar(const_cast<void*>(tensor.raw()), reinterpret_cast<PyArray_Descr*>(descr.ptr()), nullptr));
  }
  // Variables, constants and other fetches may share the buffer; the program owns what it is given.
  Tensor own = tensor.buffer() && tensor.buffer()->unique() ? std::move(tensor) : tensor.copy();
  nb::object array = checked(PyArray_SimpleNewFromData(rank, dims, number, own.mutable_raw()));
  auto* keep = new Tensor(std::move(own));
  PyObject* capsule =
      PyCapsule_New(keep, nullptr, [](PyObject* c) { delete static_cast<Tensor*>(PyCapsule_GetPointer(c, nullptr)); });
  if (!capsule || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array.ptr()), capsule) < 0) {
    throw nb::python_error();
  }
  return array;
}

DType to_dtype(nb::handle value) {
  if (value.is_none()) return DType::Invalid;
  nb::object dtype = nb::hasattr(value, "_enum") ? nb::borrow(value) : package().as_dtype(value);
  const auto type = static_cast<DType>(to_int(dtype.attr("_enum"), "dtype"));
  from_dtype(type);  // throws for a number that is no type's
  return type;
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

Output to_output_within(GraphObject& graph, nb::handle value, DType want, std::string_view name, int depth) {
  if (const Output* output = tensor_of(value)) return *output;
  if (const Variable* variable = variable_of(value)) return value_here(*variable);
  if (const Output* inside = find_tensor(value)) {
    if (depth == kDeepest) raise(PyExc_ValueError, "Argument must be a dense tensor: lists are nested too deeply");
    if (want == DType::Invalid) want = inside->dtype();
    std::string full = graph.unique_name(name.empty() ? "packed" : name);
    std::vector<Output> items;
    {
      Scope scope = graph.name_scope(full + "/");
      int64_t index = 0;
      for (nb::handle item : value) {
        items.push_back(to_output_within(graph, item, want, std::to_string(index++), depth + 1));
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
  if (!PyArray_Check(value.ptr()) && !PyLong_Check(value.ptr()) && !PyFloat_Check(value.ptr())) {
    nb::object converted = package().convert(value, from_dtype(want), readable(name));
    if (!converted.is_none()) return converted_tensor(converted);
  }
  return graph.constant(to_tensor(value, want, false), name);
}

}  // namespace

Output to_output(GraphObject& graph, nb::handle value, DType want, std::string_view name) {
  need_numpy();
  return to_output_within(graph, value, want, name, 0);
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
  if (!PyArray_Check(value.ptr()) && !PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) {
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

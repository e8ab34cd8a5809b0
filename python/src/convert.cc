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

// The type of the numbers that a tensor holds: of quantised ones, which numpy does not know, the plain integers.
int stored_number(DType dtype) {
  switch (dtype) {
    case DType::QInt8:
      return NPY_INT8;
    case DType::QUInt8:
      return NPY_UINT8;
    case DType::QInt16:
      return NPY_INT16;
    case DType::QUInt16:
      return NPY_UINT16;
    case DType::QInt32:
      return NPY_INT32;
    default:
      return numpy_number(dtype);
  }
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

Shape array_shape(PyArrayObject* array) {
  Shape shape{};
  for (int i = 0; i < PyArray_NDIM(array); ++i) shape.append(PyArray_DIM(array, i));
  return shape;
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
  const int number = stored_number(want);
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
    // In the words of TensorFlow: numpy's where a type is wanted, its own where it is to be found.
    raise(PyExc_ValueError, (want == DType::Invalid ? "Argument must be a dense tensor: "
                                                    : "setting an array element with a sequence: ") + text_of(value));
  }
  nb::object array = nb::steal(made);
  auto* a = reinterpret_cast<PyArrayObject*>(array.ptr());
  if (PyArray_TYPE(a) == NPY_OBJECT && want != DType::String && PyArray_SIZE(a) > 0) {
    nb::handle first(static_cast<PyObject**>(PyArray_DATA(a))[0]);
    if (nb::isinstance<OperationObject>(value)) {
      raise(PyExc_TypeError, "Can't convert Operation '" + to_name(value.attr("name")) + "' to Tensor");
    }
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
  } else if (want == DType::Int32 && natural == DType::Int64) {
    // A number that does not fit is an error, not a remainder, which it becomes in smaller types, as in TensorFlow.
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
  if (want != DType::Invalid && want != DType::Int32 && want != DType::Int64 &&
      (nb::hasattr(value, "_dims") || nb::hasattr(value, "_dimension"))) {
    raise(PyExc_TypeError, "Cannot convert a TensorShape or Dimension to dtype " + std::string(dtype_name(want)));
  }
  nb::object simple = simplify(value);
  if (PyArray_Check(simple.ptr())) return array_to_tensor(reinterpret_cast<PyArrayObject*>(simple.ptr()), want, true);
  if (!PyList_Check(simple.ptr()) && !PyTuple_Check(simple.ptr()) && nb::hasattr(simple, "__array__")) {
    nb::object array = checked(PyArray_FROMANY(simple.ptr(), NPY_NOTYPE, 0, 0, NPY_ARRAY_CARRAY));
    return array_to_tensor(reinterpret_cast<PyArrayObject*>(array.ptr()), want, true);
  }
  return python_to_tensor(simple, want);
}

bool is_array(nb::handle value) {
  need_numpy();
  return PyArray_Check(value.ptr());
}

DType array_dtype(nb::handle value) {
  return is_array(value) ? dtype_of_array(reinterpret_cast<PyArrayObject*>(value.ptr())) : DType::Invalid;
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
  const int number = stored_number(tensor.dtype());
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

}  // namespace weir::python

#pragma once

#include "objects.h"

// Values (convert.cc) and arguments (arguments.cc) between Python and Weir.
namespace weir::python {

// Loads numpy's C interface; called once, before the first value is converted, so that importing the package is quick.
void need_numpy();

// A value as a tensor of type `want`, or of the type that TensorFlow gives it when `want` is Invalid: Python's numbers
// become int32 and float, arrays keep their type. An array that already has the type and a plain layout is not copied
// when `borrow` is set: the tensor then keeps it alive. Throws TypeError or ValueError.
Tensor to_tensor(nb::handle value, DType want, bool borrow);

// A value that is fed to a tensor of type `want`: numpy's conversions, which cut fractions off where `want` has none.
Tensor to_feed(nb::handle value, DType want);

// An array over the tensor's memory when nobody else holds that, else over a copy; a numpy scalar (bytes for a string)
// of a tensor without dimensions.
nb::object to_numpy(Tensor&& tensor, bool scalars_as_arrays = false);

DType to_dtype(nb::handle value);     // None: Invalid
std::string type_name(DType dtype);   // as Python programs call it: "float32", not "float"
bool is_array(nb::handle value);      // numpy's
DType array_dtype(nb::handle value);  // of a numpy array; Invalid for anything else
nb::object from_dtype(DType dtype);
Shape to_shape(nb::handle value);           // None: unknown; None, -1 or Dimension(None) inside: unknown size
nb::object from_shape(const Shape& shape);  // a tuple with None where unknown, or None
nb::object from_attr(const AttrValue& value);

// An argument of a C++ function. Lists that hold tensors are packed. `graph` takes what becomes a node.
In to_in(GraphObject& graph, nb::handle value, DType want = DType::Invalid);
// One that TensorFlow converts before it meets others: numbers are int32 and float, whatever stands beside them.
In to_value(GraphObject& graph, nb::handle value);
std::optional<In> to_optional_in(GraphObject& graph, nb::handle value);
// A tensor of the graph.
Output to_output(GraphObject& graph, nb::handle value, DType want, std::string_view name);
// What a Python function gives as a gradient: a tensor, IndexedSlices or None.
Gradient to_gradient(GraphObject& graph, nb::handle value);

// Operations, tensors and variables, as the operations that make them. Throws TypeError.
std::vector<Operation> to_operations(nb::handle list);
// Whether a list, at any depth, holds a tensor or variable.
const Output* find_tensor(nb::handle value);

std::string to_name(nb::handle value);  // None: ""
std::string to_bytes(nb::handle item);  // of bytes and text; throws TypeError

// What Python's C functions give; throws the error that they have set when that is nothing.
nb::object checked(PyObject* object);

// Deeper lists are no tensors: shapes have no more dimensions. A list may even hold itself.
inline constexpr int kDeepest = 254;

// Numbers that a program gives where C++ has a type of its own; `name` is what the program calls the argument. An
// integer is whatever Python counts with (numpy's, a known Dimension) and never a float; a number is anything with a
// value as a float. Throw TypeError, or ValueError for one that does not fit.
int64_t to_int64(nb::handle value, const char* name);
int to_int(nb::handle value, const char* name);
double to_double(nb::handle value, const char* name);
bool to_bool(nb::handle value);

// repr() of an object for a message, cut to some 200 characters; any object and any text will do.
std::string text_of(nb::handle object);
// Text that may hold any bytes, such as names in damaged files, as a str.
nb::object readable(std::string_view text);

}  // namespace weir::python

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/attr.h"
#include "weir/error.h"
#include "weir/shape.h"
#include "weir/tensor.h"

namespace weir {

struct Op;

// What is known of the tensors that a list (a variant) holds.
struct Elements {
  bool none = false;               // there are none yet
  Shape shape = Shape::unknown();  // of each
  Tensor value = {};               // that each of them is equal to; invalid: not known, or they differ

  bool operator==(const Elements& other) const;
  // What holds of the elements of either list.
  static Elements of_either(const Elements& a, const Elements& b);
};

// Seen by a shape function: shapes of the inputs, values of those that are constant, attributes. It sets the shapes of
// the outputs (unknown unless set). Any Error it throws is completed with the node's name and line by the caller.
class InferContext {
 public:
  // How the values of inputs are had; a plan and a graph answer differently.
  class Values {
   public:
    virtual ~Values() = default;
    virtual Tensor value(int input) = 0;  // invalid when not known
    virtual Shape value_as_shape(int input) = 0;
    virtual Shape handle_shape(int input) = 0;     // of the variable behind a resource handle
    virtual Elements elements(int input);  // of an input that is a list
    // What is known of an input, whose shape this is, as the element of a list.
    virtual Elements as_element(int input, const Shape& shape);
  };

  InferContext(const Op& op, const AttrMap& attrs, std::span<const Shape* const> inputs, size_t outputs, Values& values);
  ~InferContext();

  const Op& op() const { return op_; }
  const AttrMap& attrs() const { return attrs_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return attrs_.get<T>(name);
  }
  int inputs() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& input(int index) const { return *inputs_[static_cast<size_t>(index)]; }
  // An invalid tensor when the value is not known yet. Values can be looked at where they are the host's: this and the
  // next throw Internal for an input that the row does not keep there (OpDef::host).
  Tensor value(int index);
  // An input that is a shape (a vector of int32 or int64), as far as it is known. Negative entries other than -1 throw.
  Shape value_as_shape(int index);
  // The declared shape of the variable behind a resource handle, as far as it is known.
  Shape handle_shape(int index);
  // What is known of the elements of a list, and of an input that becomes one. Plans follow lists through loops this
  // way; while a graph is built nothing is known.
  Elements elements(int list);
  Elements as_element(int index);
  // An integer vector or scalar input as numbers; nothing when not known.
  std::optional<std::vector<int64_t>> value_as_ints(int index);

  void set_output(int index, Shape shape) { outputs_[static_cast<size_t>(index)] = std::move(shape); }
  const Shape& output(int index) const { return outputs_[static_cast<size_t>(index)]; }
  std::vector<Shape> take_outputs();
  // For outputs that are lists, and that are elements of them with a known value; the rest is unknown.
  void set_elements(int index, Elements elements);
  void set_value(int index, Tensor value);
  // Empty, or one for each output.
  std::vector<Elements> take_elements();
  std::vector<Tensor> take_values();

  // Each throws InvalidArgument that names the input and its shape; unknown ranks pass.
  void require_rank(int index, int rank) const;
  void require_min_rank(int index, int rank) const;
  void require_scalar(int index) const { require_rank(index, 0); }
  [[noreturn]] void fail(const std::string& message) const { throw Error(Code::InvalidArgument, message); }

  // For OpDef::as_shape, which is asked while a graph is built: there all values are the host's.
  void look_anywhere() { anywhere_ = true; }

  // An axis counted from either end; throws when outside [-rank, rank).
  static int normalise_axis(int64_t axis, int rank);

 private:
  void require_host(int index) const;

  const Op& op_;
  const AttrMap& attrs_;
  std::span<const Shape* const> inputs_;
  std::vector<Shape> outputs_;
  std::vector<Elements> elements_;
  std::vector<Tensor> output_values_;
  Values& values_;
  bool anywhere_ = false;
};

// Shape functions that many operations share.
namespace infer {
void scalar(InferContext& c);            // every output a scalar
void unchanged(InferContext& c);         // output 0 is shaped like input 0
void broadcast_binary(InferContext& c);  // output 0 is inputs 0 and 1 broadcast together
void merged(InferContext& c);            // all inputs and output 0 have one shape
}  // namespace infer

}  // namespace weir

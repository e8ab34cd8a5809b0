#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/elementwise_fn.h"
#include "weir/attr.h"
#include "weir/dtype.h"

namespace weir {

class Completion;
class GradContext;
class InferContext;
class KernelContext;
class NodeView;
class PrepareContext;

// What a kernel worked out when its plan was made; owned by the plan's step, read through KernelContext::state<S>().
using KernelState = std::unique_ptr<void, void (*)(void*)>;
using ComputeFn = void (*)(KernelContext&);
using StartFn = void (*)(KernelContext&, Completion);

// How a device computes an operation.
struct Kernel {
  // The function for the node's types; null when there is none (the node is then Unimplemented on this device).
  ComputeFn (*select)(const NodeView&) = nullptr;
  // Instead of `select`, for an operation that waits: a function that begins the work and returns. The Completion is
  // called when it has ended; until then the context stays valid. Inputs and outputs have no fixed place in memory:
  // input_tensor() shares, set_output() gives.
  StartFn (*start)(const NodeView&) = nullptr;
  // Reads attributes, works out strides, asks for scratch memory. Runs when a plan is made, not when it is run.
  KernelState (*prepare)(PrepareContext&) = nullptr;
  // Output 0 may be written over input i, when nobody else needs that, for every set bit i. Types must agree in size.
  uint32_t in_place = 0;
  // The kernel gives its outputs by set_output even when their shapes are known (reads of variables share a buffer).
  bool gives_outputs = false;
};

// What running a node does beside giving its outputs.
enum class Effect : uint8_t {
  FromSignature,  // as its signature has it: Writes when it takes a reference, or is stateful and begins with a
                  // resource; Other when it is stateful; None when it is neither
  None,
  Reads,   // looks at what input 0 refers to
  Writes,  // changes what its references and resources refer to
  Checks,  // may fail on purpose, so that whoever waits for it knows that it did not
  Other,   // draws random numbers, prints, writes files, calls the program, ...
};

// What an operation is to those that build, rewrite and run graphs, where it is more than a computation.
enum class Role : uint8_t {
  None,
  Placeholder,  // stands for what is fed; cannot be computed
  Default,      // gives input 0 unless it is fed
  Constant,     // gives its attribute `value`
  Variable,     // gives the reference or resource of a variable, whose shape is its attribute `shape`
  Read,         // gives the value of the variable that input 0 refers to, by sharing its memory
  Identity,     // gives input 0 on, be it a value, a reference or a resource
  Copy,         // gives input 0 in the memory of another device
  Nothing,      // only waits and is waited for
  Branch,       // If: the plan runs one of its bodies
  Loop,         // While: the plan runs its bodies again and again
  BiasAdd,      // adds the vector input 1 along the channels of input 0
};

// How each element of the output follows from the elements at its place in the inputs, which broadcast; for float32,
// and for truth values as 1 and 0.
struct ElementwiseBody {
  enum class Kind : uint8_t {
    None,
    Unary,
    Binary,
    Select,  // input 0 ? input 1 : input 2, when all have one shape
    Cast,    // the same number in another type
    Sum,     // of all inputs, one after the other
  };
  Kind kind = Kind::None;
  UnaryFn unary = {};    // of kind Unary
  BinaryFn binary = {};  // of kind Binary

  constexpr ElementwiseBody() = default;
  constexpr ElementwiseBody(Kind k) : kind(k) {}
  constexpr ElementwiseBody(UnaryFn fn) : kind(Kind::Unary), unary(fn) {}
  constexpr ElementwiseBody(BinaryFn fn) : kind(Kind::Binary), binary(fn) {}
  constexpr bool operator==(const ElementwiseBody&) const = default;
};

// What beside elementwise functions a loop over float32 elements can compute along; see passes/fuse_loops.cc. All but
// Spread read the elements of input 0.
struct LoopPart {
  enum class Kind : uint8_t {
    None,
    Spread,      // input 0, repeated along dimensions of size 1
    Reduce,      // over the axes that input 1 lists
    ReduceAll,   // over all axes
    ReduceRows,  // over all axes but the last, in the layout NHWC
    Softmax,     // along the last axis
  };
  Kind kind = Kind::None;
  ReduceFn fn = {};  // of the kinds that reduce
  float scale = 1;   // what their result is multiplied with
};

// Where the elements of the result come from, for operations that are neither elementwise nor a LoopPart, so that a
// part of it can be computed from parts of the inputs; see passes/compute_parts.cc.
enum class Source : uint8_t {
  Other,
  Slice,    // a box of input 0, of which inputs 1 to 3 tell begin, end and strides
  Unslice,  // its gradient: input 4, put back to where it was taken from, and zeros elsewhere
  Permute,  // input 0, its dimensions in the order of input 1
  Product,  // matrices in the last two dimensions of inputs 0 and 1, for each of the dimensions before these
};

// How much of a table, the first input, is used.
enum class Rows : uint8_t {
  All,
  Read,     // those that make up the output
  Written,  // as much as the largest other input
};

// One row of an operation table. The strings are TensorFlow's signature in the notation of tests/data/ops-1.15.5.tsv:
//   inputs  "values:N*T; axis:Tidx"
//   attrs   "N:int>=2; T:type; Tidx:type{int32,int64}=int32"      (also T:numbertype, T:realnumbertype)
//   flags   "stateful", "commutative", "aggregate", "uninitialized_input", comma-separated
// Rows are plain data, parsed when an operation is first looked up.
struct OpDef {
  std::string_view name;
  std::string_view inputs = "";
  std::string_view outputs = "";
  std::string_view attrs = "";
  std::string_view flags = "";
  // Inputs and outputs that lie in the host's memory wherever the node runs, by name: "axis, output". Whatever the
  // shape function reads the value of is one; so are counts and sizes.
  std::string_view host = "";
  // Checks shapes and sets those of the outputs: once when the node is made, with what is known then, and again when a
  // plan is made, with everything known. Null: every output has an unknown shape.
  void (*infer)(InferContext&) = nullptr;
  // Null: asking for a gradient through this operation is an error. `not_differentiable`: no gradient flows.
  void (*gradient)(GradContext&) = nullptr;
  Kernel cpu = {};
  // May wait for more than its inputs: for another run, another thread, another machine. It then holds up nothing that
  // does not depend on it. Its kernel has `start`; with `select` alone it blocks a thread of its own meanwhile.
  bool waits = false;
  // Output 0 is this input's memory under another shape: nothing is computed (Identity, Reshape). -1: none.
  int alias = -1;

  // What passes, placement and planning know of it. The defaults hold for most rows.
  Role role = Role::None;
  Effect effect = Effect::FromSignature;
  bool host_only = false;  // files, text and logs: there is no kernel but the CPU's
  bool winograd = false;   // may be computed by Winograd's method, unless its attribute `_direct` is true
  Rows rows = Rows::All;
  ElementwiseBody elementwise = {};
  LoopPart loop = {};
  Source source = Source::Other;
  // What it becomes together with a bias (Role::BiasAdd, or an addition) and an activation; empty: nothing.
  std::string_view fused = "";
  // The operation that puts input 1 into the order which the fused one reads fastest (its attribute packed_columns),
  // worth it where many steps use the same; empty: there is none.
  std::string_view packs = "";
  // Whether, with these attributes, a sum of several can be had at once: from their inputs, one behind the other along
  // the first dimension. Null: never.
  bool (*sums_by_stacking)(const AttrMap& attrs) = nullptr;
  // Floating point operations by the direct method, for concrete or unknown shapes. Null: about one for each element.
  double (*flops)(std::span<const Shape* const> inputs, std::span<const Shape* const> outputs) = nullptr;
  // For outputs that follow from the shapes of the inputs, one from each: that value, or an invalid tensor while too
  // little is known of the shape.
  Tensor (*from_shape)(const Shape& input, DType type) = nullptr;
  // For an output that is often used as a shape: that shape as far as it is known.
  Shape (*as_shape)(InferContext&) = nullptr;
};

void not_differentiable(GradContext&);

}  // namespace weir

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/thread_pool.h"
#include "graph/infer_context.h"
#include "graph/node.h"
#include "weir/session_options.h"

namespace weir {

// The part of a graph that one run needs, as the passes rewrite it on its way to a plan. Nodes are numbered; an edge
// names a node and one of its outputs. Nodes that a pass made superfluous stay in the list, unreferenced and `dead`.

struct IrEdge {
  int node = -1;
  int output = 0;
  auto operator<=>(const IrEdge&) const = default;
};

// What is known of a value that is fed: its type and shape, and the value when it is the same in every run.
struct FeedSpec {
  DType dtype = DType::Invalid;
  Shape shape;
  Tensor value = {};
  Elements elements = {};  // of a list
  bool invariant = false;  // of a loop's body: the same in all iterations
};

// A branch of an If, or the condition or the body of a While, as it was when the Ir was built: a graph that grows
// meanwhile changes nothing.
struct FlowBody {
  const Body* body = nullptr;
  std::vector<Output> parameters, results;  // a result that nobody needs is empty
  std::vector<Operation> targets;
};
// Handles of variables are not among the parameters and the node's inputs any more: bodies look them up themselves.
struct Flow {
  bool is_loop = false;
  FlowBody bodies[2];                // then and else, or condition and body
  bool writes = false;               // a body, or one inside it, changes variables
  bool waits = false;                // ... or holds a node that waits
  int selected = -1;                 // the branch, when the predicate is known
  bool scalar = false;               // the graph says that the predicate is one; it need not be in a run
  std::vector<int> outputs;          // of the node, one for every result (of a loop's body: for every parameter, too)
  std::vector<FeedSpec> invariants;  // what holds of a loop's parameters in every iteration, as far as the plan knows
};

struct IrNode {
  const Op* op = nullptr;
  const Node* origin = nullptr;  // who is blamed for errors, and named in traces
  std::string name;
  AttrMap attrs;
  std::vector<IrEdge> inputs;
  std::vector<int> control;
  std::vector<DType> types;        // of the outputs
  std::vector<Shape> shapes;       // with this plan's feeds; unknown where only the run will tell
  std::vector<Tensor> values;      // per output: its value when it is the same in every run, else invalid
  std::vector<Elements> elements;  // empty, or per output: what is known of the lists among them
  // Whether shapes or values may be others with feeds of other shapes; and what a value that is known was worked out
  // from, once its inputs are not needed any more. See refit.h.
  bool varies = false;
  std::vector<IrEdge> recipe;
  int feed = -1;               // index of the feed that this node stands for
  std::shared_ptr<Flow> flow;  // of an If or While
  int device = 0;              // that runs it: its number in the session's DeviceSet; see place.h
  int to = -1;                 // of a _Copy: the device whose memory it writes
  bool uploaded = false;       // of a constant: it is put into the memory of its device when the plan is made
  bool invariant = false;      // of a loop's body: the same in all iterations; computed in the first of them
  bool in_place = false;       // it may wait, on the thread of who runs the plan; see stretches.h
  bool dead = false;

  bool is_feed() const { return feed >= 0; }
  bool is_constant() const;  // every output has a value
  bool waits() const { return !is_feed() && !in_place && (flow ? flow->waits : op->def->waits); }
  int memory() const { return to >= 0 ? to : device; }  // the device whose memory its outputs are in
};

struct Ir {
  std::vector<IrNode> nodes;
  std::vector<IrEdge> fetches;
  std::vector<int> targets;
  std::vector<Shape> declared;  // of each feed, by the graph
  // There are nodes of raw control flow (ops/control/dataflow.h) among what the plan needs: the Ir has nothing but
  // feeds.
  bool is_dataflow = false;
  // What rewrites relied on, of nodes that vary: pairs of values with equal shapes, and with equal elements.
  std::vector<std::pair<IrEdge, IrEdge>> equal_shapes, equal_values;

  IrNode& operator[](int node) { return nodes[static_cast<size_t>(node)]; }
  const IrNode& operator[](int node) const { return nodes[static_cast<size_t>(node)]; }
  int size() const { return static_cast<int>(nodes.size()); }
  const Shape& shape(const IrEdge& edge) const { return (*this)[edge.node].shapes[static_cast<size_t>(edge.output)]; }
  DType type(const IrEdge& edge) const { return (*this)[edge.node].types[static_cast<size_t>(edge.output)]; }

  int add(IrNode node);
  // Nodes that are not dead, producers before consumers. Throws InvalidArgument for a cycle.
  std::vector<int> topological_order() const;
  // How often each node's outputs are read: by other nodes and by fetches.
  std::vector<int> use_counts() const;
  // Makes every reader of `from` read `to`.
  void redirect(const IrEdge& from, const IrEdge& to);
  // Whether some node or target waits for `node` by a control edge.
  std::vector<bool> has_control_readers() const;
  // Marks what no fetch, target or stateful target needs as dead.
  void sweep();
};

// Whether a node of this operation gives what the session knows by a name (a variable, a queue): whoever needs it can
// look it up for itself. What a kernel makes anew in every run (a stack) is no such thing.
bool gives_named_handle(const Op& op);

// The variable's node behind a reference or handle, following the operations that pass it on.
int variable_of(const Ir& ir, IrEdge edge);

class DeviceSet;
struct PassContext {
  const PassOptions& options;
  ThreadPool& pool;
  const DeviceSet* devices = nullptr;  // that nodes stand on; null: on the CPU, which has every kernel
};

struct OutputHash {
  size_t operator()(const Output& o) const {
    return std::hash<const void*>()(o.node()) * 31 + static_cast<size_t>(o.index());
  }
};

// That a plan is for some of the nodes alone: the others have run before, or are read through feeds.
struct PlanPart {
  const std::unordered_set<const Node*>& nodes;
  const std::unordered_map<Output, Output, OutputHash>& references;  // that nodes read instead of their own
};

// What a plan shall compute. A session's run asks for this, and so does control flow for each of its bodies.
struct PlanRequest {
  std::span<const Output> fetches;
  std::span<const Output> feeds;
  std::span<const FeedSpec> feed_specs;  // one for every feed
  std::span<const Operation> targets = {};
  const Body* body = nullptr;  // null: a session's run
  bool fetch_to_host = false;  // and not to the memory of the device that the plan's home is
  const PlanPart* part = nullptr;
};

// Copies the nodes that fetches and targets need, stopping at fed outputs, and inserts a `_Read` wherever a value is
// read through a reference; when that is fetched, the read waits for all writes of the variable. Checks the feeds'
// types and shapes. Throws with the code and node a user expects.
Ir build_ir(const PlanRequest& request);

// Fills in shapes, and values that follow from constants and shapes. Throws the shape functions' errors.
void infer_ir(Ir& ir, PassContext& context);

// What is known of a node's inputs, one entry each; values are invalid where they are not known.
const std::vector<IrEdge>& sources(const IrNode& node);  // its inputs, or what they were
struct InputFacts {
  std::vector<const Shape*> shapes;
  std::vector<const Tensor*> values;
};
// What follows for a node's outputs. Throws the shape function's errors, without the node's name.
struct OutputFacts {
  std::vector<Shape> shapes;
  std::vector<Elements> elements;  // empty, or for each output, as are
  std::vector<Tensor> values;      // those that were elements of lists
};
OutputFacts infer_outputs(const Ir& ir, const IrNode& node, const InputFacts& inputs);
// Whether the values of a node follow from the shapes of its inputs alone; gives those that are known.
bool infer_shape_values(const IrNode& node, const InputFacts& inputs, std::vector<Tensor>& values);

// The same for an If or While, by way of its bodies.
void infer_flow(Ir& ir, IrNode& node, PassContext& context);
// What holds of a loop's parameters in every iteration, given what holds in the first.
std::vector<FeedSpec> loop_invariants(const Flow& flow, std::vector<FeedSpec> first, PassContext& context);
// Whether a predicate of any type means true. Throws InvalidArgument when it is not the scalar that it should be.
bool is_true(const Flow& flow, DType dtype, const Shape& shape, const void* data);
// Drops results of control flow that nobody reads, loop variables that only they need, and inputs that are then not
// needed any more: a loop that keeps values for its gradient keeps them only in runs that compute the gradient.
void prune_flow(Ir& ir);

// prune_flow and all that follow, in their order, as far as the options have them.
void rewrite(Ir& ir, PassContext& context);

// Each of these is one rewrite, switched by its field of PassOptions.
void fold_constants(Ir& ir, PassContext& context);
void remove_identities(Ir& ir, PassContext& context);
void share_common_subexpressions(Ir& ir, PassContext& context);
void fuse_bias_activation(Ir& ir, PassContext& context);
// Batch normalisation with an addition and an activation behind it, and their gradients. Comes before the elementwise
// fusion, and is switched with fuse_bias_activation.
void fuse_batch_norm(Ir& ir, PassContext& context);
// Reads small values instead of repeated ones, and computes with them before they are repeated. Comes before the
// fusions of loops, and is switched with fuse_elementwise.
void spread_late(Ir& ir, PassContext& context);
// Values of which only a part is read, and those that are zero but for a part, are computed for that part alone.
// Switched with fuse_elementwise.
void compute_parts(Ir& ir, PassContext& context);
// A sum of products a^T b, as of the gradients of weights that are used again and again, becomes one product of all a and
// all b. Comes before the fusions, and is switched with fuse_elementwise.
void stack_products(Ir& ir, PassContext& context);
// variable -= alpha * (gradient * scale): the numbers are multiplied instead. Switched with fuse_elementwise.
void scale_updates(Ir& ir, PassContext& context);
// Elementwise operations, reductions of rows and sums beside them become one loop with several results. Takes most of
// what fuse_elementwise would, which is for devices without such loops; switched with it.
void fuse_loops(Ir& ir, PassContext& context);
void fuse_elementwise(Ir& ir, PassContext& context);

// For the body of a loop: marks what is the same in all iterations (IrNode::invariant), so that it is computed once,
// and puts matrices that every iteration multiplies with into the order that products read fastest. Comes after the
// fusions.
void hoist_invariants(Ir& ir, PassContext& context);

// Marks every convolution with the attribute `_direct`, for SessionOptions::direct_convolutions. Comes after the
// fusions.
void direct_convolutions(Ir& ir);

// The order in which a plan runs the nodes: producers first, writes of a variable after the reads that do not depend
// on them (so that they can happen in place), and otherwise depth first, which keeps few values alive.
std::vector<int> schedule(const Ir& ir);

// Whether the plan knows the values that say how a view of its input (Reshape) looks. Where it does not, the shape that
// was inferred is only what it must be, and the run has to check it.
bool is_fixed_view(const Ir& ir, const IrNode& node);

}  // namespace weir

#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "graph/graph_impl.h"

namespace weir {

// Makes and changes If and While nodes and the bodies that they name. Like everything that builds a graph, for one
// thread at a time; what a running session may look at meanwhile changes under the graph's lock.

inline bool is_if(const Op& op) { return op.role == Role::Branch; }
inline bool is_while(const Op& op) { return op.role == Role::Loop; }

// A new body inside the one where nodes go now. `name` is made unique among the graph's functions.
Body& add_body(Graph& graph, std::string_view name, bool is_loop);
// Null when the graph has none of that name.
Body* find_body(const Graph& graph, std::string_view name);
// The then and else branches of an If; the condition and the body of a While. Throws NotFound, naming the node, when
// the graph has no such bodies.
std::pair<Body*, Body*> bodies_of(const Node& node);

// The innermost loop that `node` is a part of; null when there is none.
const Body* enclosing_loop(const Node& node);
// Throws InvalidArgument when a node in `reader` may not read `node`, because that is in a loop around which `reader`
// is. `name` is the reader's, for the message.
void check_readable(const Node& node, const Body* reader, std::string_view name);

// What can be said of a tensor that has either shape.
Shape common_shape(const Shape& a, const Shape& b);

// Finishes two branches, whose results are set, and adds the If of them to the current body. What the branches read
// from around them becomes their parameters and the node's inputs; operations around them that their nodes wait for
// become the node's control inputs. Results must agree in number and type.
Operation add_if(Graph& graph, const Output& predicate, Body& then_branch, Body& else_branch, std::string_view name);

struct WhileNodeOptions {
  int64_t parallel_iterations = 10;
  bool back_prop = true;
  bool is_gradient = false;  // of another loop; gradients of gradients of loops are not supported
  std::string_view name = "While";
};
// The same for a loop. `condition` and `body` each have one placeholder for every initial value as their parameters,
// and results: a predicate, and the next values.
Operation add_while(Graph& graph, const std::vector<Output>& initial, Body& condition, Body& body,
                    const WhileNodeOptions& options);

// Makes `result`, a tensor in `branch`, one more output of the If; in the other branch it has no value.
Output add_if_output(Node& if_node, Body& branch, const Output& result);

// One more loop variable of a While: the placeholder of its body. The caller sets its result, the last of the body's.
// The variable's final value is the node's last output. Nodes may then read nodes that were made after them.
Output add_loop_variable(Node& while_node, const Output& initial, std::string_view name);

// How a loop can be differentiated.
inline constexpr std::string_view kNoBackProp = "_no_back_prop", kIsLoopGradient = "_is_loop_gradient";

// Makes every node in `body` and the bodies inside it that reads `from` read `to`.
void replace_in_body(Body& body, const Output& from, const Output& to);

// The tensors of `from` and of bodies inside it that nodes in `reader`, or in bodies inside that, read.
std::vector<Output> reads_between(const Body& reader, const Body& from);

}  // namespace weir

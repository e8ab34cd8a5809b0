#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/node.h"

namespace weir {

// A part of a graph that runs only when control flow says so: a branch of an If, the condition or the body of a While;
// or a function that operations of other kinds call.
// Its nodes are ordinary nodes that name it (Node::body). What it reads from around it needs no copy: it is listed
// among the parameters, and the plan of a body is made like that of a run, with its parameters fed and its results
// fetched.
struct Body {
  std::string name;       // of the function that it is in a GraphDef
  Body* outer = nullptr;  // the body that its If or While stands in; null at the top level
  bool is_loop = false;   // its nodes mean something else in every iteration; nobody outside may read them
  // A function (graph/functions.h), and so is_loop. Its nodes, and those of bodies inside it, have names of their own:
  // the graph does not list them.
  bool is_function = false;
  int64_t nodes_made = 0;          // of a function: those of bodies inside it too
  std::vector<Output> parameters;  // what is fed, in the order of the node's inputs (an If's predicate left out): its
                                   // own placeholders (loop variables), and tensors of enclosing bodies that it reads
  std::vector<Output> results;     // one for every output of the node; empty: nothing that anybody will read
  std::vector<Operation> targets;  // what runs with it for its effects alone
  std::vector<Node*> nodes;        // made in it directly, in order of creation
  const Body* gradient_of =
      nullptr;                  // the body whose gradient this computes, whose tensors it may read until it is done
  std::vector<Output> initial;  // while a loop is described: what its variables are before the first iteration

  // The innermost function that nodes here are a part of; null when there is none.
  static Body* function_around(Body* body) {
    while (body && !body->is_function) body = body->outer;
    return body;
  }
  bool encloses(const Body* other) const {  // itself included
    while (other && other != this) other = other->outer;
    return other == this;
  }
};

// The nodes and bodies of a graph. One thread builds; sessions read meanwhile. So the building thread holds the mutex
// while it changes anything here or in a node or body that is listed here, and everybody else while they look; the
// building thread itself reads without it.
struct GraphStorage {
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<Node>> nodes;  // in order of creation; they never move
  std::unordered_map<std::string, Node*> by_name;
  int64_t listed = 0;  // nodes that are not parts of functions

  std::vector<std::unique_ptr<Body>> bodies;
  std::unordered_map<std::string, Body*> body_by_name;

  // Functions of imported graphs, kept as they came: a serialised FunctionDefLibrary.
  std::string function_library;
};

}  // namespace weir

#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "ops/kernel.h"
#include "ops/run_control.h"
#include "weir/tensor.h"

namespace weir {

// A handle as an argument of a function: a scalar that keeps what it refers to.
Tensor resource_tensor(Resource& resource);

// A function of a graph (graph/bodies.h), ready to be called. Thread-safe.
class GraphFunction {
 public:
  virtual ~GraphFunction() = default;
  virtual size_t arguments() const = 0;  // what it reads from around it included
  virtual size_t results() const = 0;
  // Whether an operation of it has effects, draws random numbers or looks at what may change.
  virtual bool stateful() const = 0;
  // Runs it. `arguments` has an invalid tensor in the place of each resource that it reads from around it: it finds
  // these by itself. Those that it has parameters for are resource_tensor()s. Throws what its operations throw, with
  // their names and lines, and Cancelled when `control` says so or the session has ended.
  virtual void call(std::span<const Tensor> arguments, std::span<Tensor> results, const RunControl& control) = 0;
};

// The functions that one pipeline, or one run, calls. What their operations keep between calls (where a random
// operation stands) belongs to it. Thread-safe.
class GraphFunctions {
 public:
  virtual ~GraphFunctions() = default;
  // Throws NotFound when the graph has no such function. The result lives as long as this.
  virtual GraphFunction& find(const std::string& name) = 0;
  // The gradient of a function, as TensorFlow's SymbolicGradient has it: takes the function's arguments and a gradient
  // for each of its results, and gives one of type types[i] for each argument. Throws NotFound when there is no such
  // function, InvalidArgument when the types are not as many as the arguments, and what gradients() throws.
  virtual GraphFunction& find_gradient(const std::string& name, std::span<const DType> types) = 0;
};

// How operations call functions of the graph that their session runs. Outlives the session, when it only refuses.
// Thread-safe.
class FunctionRunner {
 public:
  virtual ~FunctionRunner() = default;
  virtual std::shared_ptr<GraphFunctions> functions() = 0;
  // Those of an input pipeline: what they leave open runs on the CPU, where pipelines keep their elements.
  virtual std::shared_ptr<GraphFunctions> pipeline_functions() = 0;
  // Stopped when the session closes.
  virtual std::stop_token closed() const = 0;
};

}  // namespace weir

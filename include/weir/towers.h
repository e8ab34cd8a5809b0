#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/train.h"

// Data parallelism: one model on several devices, each with its own part of the batch and all with the same variables.
//
//   train::GradientDescent optimizer(0.1f);
//   auto towers = train::towers(g, optimizer, {"/gpu:0", "/gpu:1"}, [&](const train::Tower& tower) {
//     return loss_of(model(images[tower.index]), labels[tower.index]);
//   }, {.global_step = global_step});
//   session.run(towers.train, feeds);
namespace weir::train {

// What the model's function is told of the replica that it builds.
struct Tower {
  Graph& graph;
  size_t index;
  std::string device;  // as given
  std::string scope;   // of its nodes' names: "tower_0/"
};

// Builds one replica and gives its loss. Variables come from Graph::get_variable: the first tower makes them, the
// others share them.
using TowerModel = std::function<Output(const Tower& tower)>;

struct TowersOptions {
  std::optional<Variable> global_step = {};  // counted up by 1 after the updates
  std::vector<Variable> var_list = {};       // empty: the graph's trainable variables
  std::string variable_device = "/cpu:0";    // where variables stand that the model does not place; "": as its tower
  std::string scope = "tower";               // names of nodes begin with "tower_0/", "tower_1/", ...
  std::string name = {};                     // of the update; empty: the optimizer's name
};

struct Towers {
  std::vector<Output> losses;  // one a tower
  Output loss;                 // their mean
  GradsAndVars gradients;      // averaged
  Operation train;             // applies them
};

// Builds the model once for each device, averages the gradients and applies them. With towers of equal batches and a
// loss that is a mean over its batch, a step is that of one model with the joint batch. An empty device leaves the
// choice to the placer. Averages go where the variables stand, updates beside each variable.
// Throws InvalidArgument when there are no devices, when a model gives no loss, or makes variables that the first did
// not; what the model throws passes through. Variable scopes are left as they were.
WEIR_API Towers towers(Graph& graph, Optimizer& optimizer, const std::vector<std::string>& devices,
                       const TowerModel& model, const TowersOptions& options = {},
                       In::Where where = In::Where::current());

}  // namespace weir::train

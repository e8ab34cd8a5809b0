#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ops/control/dataflow.h"
#include "passes/ir.h"
#include "runtime/plan.h"

namespace weir {

// What a plan of raw control flow consists of; see dataflow.h.

// Where a value comes from: an output of a unit. -1: nothing but that the unit has run.
struct DataflowSource {
  int unit = -1;
  int output = -1;
  auto operator<=>(const DataflowSource&) const = default;
};

// A part of the graph without control flow, as plans for the shapes that it meets.
class DataflowPart {
 public:
  std::vector<Output> feeds, fetches;
  std::vector<Operation> targets;
  std::unordered_set<const Node*> nodes;
  std::unordered_map<Output, Output, OutputHash>
      references;  // what nodes read instead of references that passed a Switch
  const Body* body = nullptr;

  // The plan for these feeds; thread-safe, and lives as long as this.
  Plan& plan_for(std::span<const Value> values, const Plan& owner, int device);

 private:
  struct Planned {
    std::vector<Shape> shapes;
    std::unique_ptr<Plan> plan;
  };
  std::mutex mutex_;
  std::vector<Planned> plans_;
};

// A part, or a node of control flow.
struct DataflowUnit {
  ops::DataflowKind kind = ops::DataflowKind::None;
  const Node* node = nullptr;          // of control flow
  std::unique_ptr<DataflowPart> part;  // or else
  int frame = 0;                       // that it runs in
  int to_frame = 0;                    // that its outputs are read in
  bool is_constant = false;            // of an Enter: for every iteration
  std::vector<DataflowSource> inputs;
  std::vector<DataflowSource> controls;
  int outputs = 0;
  // Who reads each output, and who only waits.
  struct Reader {
    int unit, input;  // the number of its input; -1: it waits for the output and needs no value
  };
  std::vector<std::vector<Reader>> readers;
  std::vector<Reader> given;  // inputs of references: they come with the unit's end, without a value
  std::vector<int> waiting;
  int later_inputs = 0;  // of a loop's Merge: those that come from the iteration before
  // Of what goes to other tasks, or comes from them:
  std::string key;
  bool numbered_frames = false;
  DType type = DType::Float32;
  bool waits = false;  // of a part in a graph with such: it has nodes that wait, and runs beside the rest
};

struct DataflowFrame {
  std::string name;
  int parent = -1;
  int enters = 0;
  std::vector<int> exits;  // units
};

struct DataflowStructure {
  std::vector<DataflowUnit> units;      // the first gives what is fed
  std::vector<DataflowFrame> frames;    // the first is around all loops
  std::vector<DataflowSource> fetches;  // unit -1: read when everything has run
  std::vector<std::string> fetch_names;
  std::unique_ptr<DataflowPart> last;  // reads fetched variables, after all writes
  int step_feed = -1;                  // which feed is the number of the step; -1: nothing goes to other tasks
};

// Takes the needed part of the graph apart. Throws as Dataflow's constructor. REQUIRES: the graph's lock is held.
std::unique_ptr<DataflowStructure> analyse_dataflow(const PlanRequest& request);

}  // namespace weir

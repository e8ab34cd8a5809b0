#pragma once

#include <string>

#include "distributed/cluster.h"
#include "distributed/step_table.h"
#include "ops/net/collective_rounds.h"
#include "proto/node_def.pb.h"

namespace weir::distributed {

// How a task asks the leader to be brought together with the other members of a group.
inline const std::string kJoinMethod = "/weir.Collectives/Join";

// Collective operations between tasks. The first task of the cluster brings the members of a group together; their
// values then go round a ring of them, as the values of a step do.
//
// Thread-safe.
class TaskCollectives final : public ops::Collectives {
 public:
  // The others must live longer.
  TaskCollectives(std::string own_task, uint64_t incarnation, Peers& peers, StepTable& steps);

  void run(const ops::CollectiveCall& call, Tensor input, const std::stop_token& stop, Done done) override;

  // Of the leader: answers a member of another task when all have called. Throws InvalidArgument for what is no call.
  using Answer = std::function<void(proto::NodeDef round, std::exception_ptr error)>;
  void join(const proto::NodeDef& asked, const std::stop_token& stop, Answer answer);

 private:
  // The members in their order: their names and lives, and the numbers of their calls, under which they send, as in a
  // step.
  struct Group {
    std::vector<std::string> devices = {};
    std::vector<uint64_t> incarnations = {};
    std::vector<int64_t> ids = {};
    int rank = 0, source = -1;
  };
  class Ring;
  void find_group(const ops::CollectiveCall& call, int64_t id, const std::stop_token& stop,
                  std::function<void(const Group&, std::exception_ptr)> found);

  const std::string own_task_;
  const uint64_t incarnation_;
  Peers& peers_;
  StepTable& steps_;
  Peer* leader_ = nullptr;  // null: this task
  ops::CollectiveRounds rounds_{false};
};

}  // namespace weir::distributed

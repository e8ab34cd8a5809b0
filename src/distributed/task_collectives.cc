#include "distributed/task_collectives.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/errors.h"
#include "distributed/prepared_step.h"
#include "distributed/status.h"
#include "distributed/wire.h"
#include "tensor/tensor_proto.h"

namespace weir::distributed {
namespace {

using ops::CollectiveCall;
using ops::CollectiveRound;
using Kind = CollectiveCall::Kind;

constexpr int64_t kMostMembers = 1 << 16;
const std::pair<Kind, const char*> kKinds[] = {{Kind::Reduce, "CollectiveReduce"},
                                               {Kind::Gather, "CollectiveGather"},
                                               {Kind::Send, "CollectiveBcastSend"},
                                               {Kind::Receive, "CollectiveBcastRecv"}};

proto::AttrValue& attr(proto::NodeDef& node, const char* name) { return (*node.mutable_attr())[name]; }
const proto::AttrValue& attr(const proto::NodeDef& node, const char* name) {
  auto found = node.attr().find(name);
  if (found == node.attr().end()) throw invalid_argument("a call of a collective operation has no attribute {}", name);
  return found->second;
}

// A call travels as the node that it is of.
proto::NodeDef to_node(const CollectiveCall& call, int64_t id, uint64_t incarnation) {
  proto::NodeDef node;
  node.set_name(call.node);
  node.set_device(call.device);
  for (const auto& [kind, name] : kKinds) {
    if (kind == call.kind) node.set_op(name);
  }
  attr(node, "group_size").set_i(call.group_size);
  attr(node, "group_key").set_i(call.group_key);
  attr(node, "instance_key").set_i(call.instance_key);
  attr(node, "T").set_type(static_cast<proto::DataType>(call.dtype));
  shape_to_proto(call.shape, *attr(node, "shape").mutable_shape());
  attr(node, "merge_op").set_s(call.merge_op);
  attr(node, "final_op").set_s(call.final_op);
  attr(node, "id").set_i(id);
  attr(node, "incarnation").set_i(static_cast<int64_t>(incarnation));
  return node;
}

ops::CollectiveMember from_node(const proto::NodeDef& node) {
  // One after the other: g++ 12 destroys members of an unfinished aggregate twice when a later one throws.
  ops::CollectiveMember member;
  CollectiveCall& call = member.call;
  call.group_size = attr(node, "group_size").i();
  call.group_key = attr(node, "group_key").i();
  call.instance_key = attr(node, "instance_key").i();
  call.dtype = static_cast<DType>(attr(node, "T").type());
  call.shape = shape_from_proto(attr(node, "shape").shape());
  call.merge_op = attr(node, "merge_op").s();
  call.final_op = attr(node, "final_op").s();
  call.device = node.device();
  call.node = node.name();
  member.id = attr(node, "id").i();
  member.incarnation = static_cast<uint64_t>(attr(node, "incarnation").i());
  const auto* kind =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return k.second == node.op(); });
  if (kind == std::end(kKinds)) throw invalid_argument("'{}' is no collective operation", node.op());
  call.kind = kind->first;
  if (call.group_size < 1 || call.group_size > kMostMembers) {
    throw invalid_argument("a group of {} members", call.group_size);
  }
  return member;
}

// Who brings members together: a task that trains, where there is one, so that a cluster of workers needs no other.
std::string leader_of(const std::string& own_task, const Peers& peers) {
  std::vector<std::string> tasks{own_task};
  for (const auto& peer : peers.all()) tasks.push_back(peer->name());
  auto order = [](const std::string& task) {
    const DeviceSpec spec = DeviceSpec::parse(task);
    const char* const first[] = {"chief", "master", "worker"};
    const auto place = std::find(std::begin(first), std::end(first), *spec.job) - std::begin(first);
    return std::make_tuple(place, *spec.job, *spec.task);
  };
  return *std::min_element(tasks.begin(), tasks.end(),
                           [&](const auto& a, const auto& b) { return order(a) < order(b); });
}

}  // namespace

TaskCollectives::TaskCollectives(std::string own_task, uint64_t incarnation, Peers& peers, StepTable& steps)
    : own_task_(std::move(own_task)), incarnation_(incarnation), peers_(peers), steps_(steps) {
  leader_ = peers_.find(leader_of(own_task_, peers_));
}

void TaskCollectives::join(const proto::NodeDef& asked, const std::stop_token& stop, Answer answer) {
  ops::CollectiveMember member = from_node(asked);
  if (leader_) throw invalid_argument("{} brings no groups together; {} does", own_task_, leader_->name());
  CollectiveCall call = member.call;
  rounds_.join(std::move(member), stop,
               [answer = std::move(answer), call = std::move(call)](const std::shared_ptr<const CollectiveRound>& round,
                                                                    std::exception_ptr failed) {
                 proto::NodeDef group;
                 if (!failed) {
                   try {
                     attr(group, "rank").set_i(round->rank_of(call));
                     attr(group, "source").set_i(call.is_broadcast() ? round->source() : -1);
                     for (const auto& m : round->members) {
                       group.add_input(m.call.device);
                       attr(group, "ids").mutable_list()->add_i(m.id);
                       attr(group, "incarnations").mutable_list()->add_i(static_cast<int64_t>(m.incarnation));
                     }
                   } catch (...) {
                     failed = std::current_exception();
                   }
                 }
                 answer(std::move(group), failed);
               });
}

void TaskCollectives::find_group(const CollectiveCall& call, int64_t id, const std::stop_token& stop,
                                 std::function<void(const Group&, std::exception_ptr)> found) {
  auto take = [found = std::move(found), size = call.group_size](const proto::NodeDef& round,
                                                                 std::exception_ptr failed) {
    Group group;
    try {
      if (failed) std::rethrow_exception(failed);
      group.rank = static_cast<int>(attr(round, "rank").i());
      group.source = static_cast<int>(attr(round, "source").i());
      group.devices.assign(round.input().begin(), round.input().end());
      const auto& ids = attr(round, "ids").list().i();
      group.ids.assign(ids.begin(), ids.end());
      for (const int64_t i : attr(round, "incarnations").list().i()) {
        group.incarnations.push_back(static_cast<uint64_t>(i));
      }
      const auto members = static_cast<int64_t>(group.devices.size());
      if (members != size || group.incarnations.size() != group.devices.size() ||
          group.ids.size() != group.devices.size() || group.rank < 0 || group.rank >= members ||
          group.source >= members) {
        throw error(Code::Internal, "the leader of a group has answered nonsense");
      }
    } catch (...) {
      failed = std::current_exception();
    }
    found(group, failed);
  };
  const proto::NodeDef asked = to_node(call, id, incarnation_);
  if (!leader_) {
    join(asked, stop, std::move(take));
    return;
  }
  leader_->begin(kJoinMethod.c_str(), encode(asked), {.stop = stop}, "bringing a group together",
                 [take = std::move(take)](const Reply& reply) {
                   proto::NodeDef round;
                   std::exception_ptr failed;
                   try {
                     if (reply.code != Code::Ok) throw error_from_text(reply.code, reply.error, nullptr);
                     decode(reply.body, round);
                   } catch (...) {
                     failed = std::current_exception();
                   }
                   take(round, failed);
                 });
}

// One member's part in a round: a piece of every member's value goes from each to the next, and is merged with theirs
// on the way; the merged ones go round once more. What is gathered goes round once. A broadcast goes down a tree.
class TaskCollectives::Ring : public std::enable_shared_from_this<Ring> {
 public:
  Ring(CollectiveCall call, int64_t id, Tensor input, StepTable& steps, std::stop_token stop, Done done)
      : call_(std::move(call)),
        id_(id),
        input_(std::move(input)),
        steps_(steps),
        stop_(std::move(stop)),
        done_(std::move(done)) {}

  void start(const Group& group) {
    group_ = group;
    size_ = static_cast<int>(group.devices.size());
    try {
      switch (call_.kind) {
        case Kind::Reduce:
          if (size_ == 1) return finish(input_);
          result_ = Tensor(call_.dtype, call_.shape);
          send_on("m", group_.rank, own_piece(group_.rank));
          return merge_next(0);
        case Kind::Gather: {
          Shape shape = call_.shape;
          shape.set_dim(0, shape.dim(0) * size_);
          result_ = Tensor(call_.dtype, shape);
          place(group_.rank, input_);
          if (size_ == 1) return finish(result_);
          send_on("g", group_.rank, input_);
          return gather_next(0);
        }
        default:
          return broadcast();
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(const std::exception_ptr& failed) {
    if (ended_.exchange(true)) return;
    // Members that wait for this one hear of it, also when they were brought together with it after it had given up;
    // and so do those that wait for them.
    steps_.forget(id_, std::make_exception_ptr(error(Code::Aborted, "the member of a group at {} has ended: {}",
                                                     call_.device, as_error(failed).message())));
    done_({}, failed);
  }

 private:
  int piece_of(int step) const { return ((group_.rank - step) % size_ + size_) % size_; }
  int64_t begin_of(int piece) const { return call_.shape.elements() * piece / size_; }
  size_t width() const { return dtype_size(call_.dtype); }

  Tensor own_piece(int piece) const {
    const int64_t begin = begin_of(piece), end = begin_of(piece + 1);
    Tensor copy(call_.dtype, Shape{end - begin});
    if (copy.bytes() > 0)
      std::memcpy(copy.mutable_raw(), static_cast<const char*>(input_.raw()) + static_cast<size_t>(begin) * width(),
                  copy.bytes());
    return copy;
  }
  void place(int piece, const Tensor& value) {
    const int64_t begin = call_.kind == Kind::Gather ? call_.shape.elements() * piece : begin_of(piece);
    if (value.bytes() > 0)
      std::memcpy(static_cast<char*>(result_.mutable_raw()) + static_cast<size_t>(begin) * width(), value.raw(),
                  value.bytes());
  }

  void merge_next(int step) {
    const int piece = piece_of(step + 1);
    receive_before("m", piece, [this, step, piece](const Tensor& value) {
      Tensor merged = ops::merge(call_.merge_op, value, own_piece(piece));
      if (step + 2 < size_) {
        send_on("m", piece, std::move(merged));
        return merge_next(step + 1);
      }
      if (call_.final_op == "Div") ops::divide(merged, size_);
      place(piece, merged);
      send_on("d", piece, std::move(merged));
      spread_next(0);
    });
  }
  void spread_next(int step) {
    const int piece = piece_of(step);
    receive_before("d", piece, [this, step, piece](Tensor value) {
      place(piece, value);
      if (step + 2 >= size_) return finish(result_);
      send_on("d", piece, std::move(value));
      spread_next(step + 1);
    });
  }
  void gather_next(int step) {
    const int piece = piece_of(step + 1);
    receive_before("g", piece, [this, step, piece](Tensor value) {
      place(piece, value);
      if (step + 2 >= size_) return finish(result_);
      send_on("g", piece, std::move(value));
      gather_next(step + 1);
    });
  }

  void broadcast() {
    if (group_.source < 0) throw error(Code::Internal, "a broadcast without a source");
    const int place = (group_.rank - group_.source + size_) % size_;  // in the tree
    auto member = [this](int p) { return (p + group_.source) % size_; };
    auto give = [this, place, member](const Tensor& value) {
      for (const int child : {2 * place + 1, 2 * place + 2}) {
        if (child < size_) send("b", 0, member(child), value);
      }
      finish(value);
    };
    if (place == 0) return give(input_);
    receive("b", 0, member((place - 1) / 2), give);
  }

  std::string key(const char* pass, int piece, int from, int to) const {
    const auto f = static_cast<size_t>(from), t = static_cast<size_t>(to);
    return rendezvous_key(group_.devices[f], group_.incarnations[f], group_.devices[t],
                          fmt::format("collective_{}_{}_{}_{}", pass, piece, from, to));
  }
  void send_on(const char* pass, int piece, Tensor value) {
    send(pass, piece, (group_.rank + 1) % size_, std::move(value));
  }
  void send(const char* pass, int piece, int to, Tensor value) {
    steps_.send(id_, key(pass, piece, group_.rank, to), std::move(value));
  }
  template <class Next>
  void receive_before(const char* pass, int piece, Next next) {
    receive(pass, piece, (group_.rank + size_ - 1) % size_, std::move(next));
  }
  template <class Next>
  void receive(const char* pass, int piece, int from, Next next) {
    const bool part = call_.kind == Kind::Reduce;
    const int64_t elements = part ? begin_of(piece + 1) - begin_of(piece) : call_.shape.elements();
    steps_.receive(
        group_.ids[static_cast<size_t>(from)], key(pass, piece, from, group_.rank), stop_,
        [self = shared_from_this(), elements, next = std::move(next)](Tensor value, std::exception_ptr failed) {
          try {
            if (failed) std::rethrow_exception(failed);
            if (!value.valid() || value.dtype() != self->call_.dtype || value.elements() != elements) {
              throw error(Code::Internal, "a value of another kind came from a member of a group");
            }
            next(std::move(value));
          } catch (...) {
            self->fail(std::current_exception());
          }
        });
  }

  void finish(Tensor result) {
    if (ended_.exchange(true)) return;
    input_ = {};
    result_ = {};
    if (result.shape() != call_.shape && call_.kind != Kind::Gather) result = result.reshaped(call_.shape);
    done_(std::move(result), nullptr);
  }

  const CollectiveCall call_;
  const int64_t id_;
  Tensor input_, result_;
  StepTable& steps_;
  const std::stop_token stop_;
  const Done done_;
  Group group_;
  int size_ = 0;
  std::atomic<bool> ended_ = false;
};

void TaskCollectives::run(const CollectiveCall& call, Tensor input, const std::stop_token& stop, Done done) {
  CollectiveCall own = call;
  own.device = own_task_ + own.device.substr(std::min(own.device.find("/device:"), own.device.size()));
  const int64_t id = random_step_id();
  auto ring = std::make_shared<Ring>(own, id, std::move(input), steps_, stop, std::move(done));
  try {
    find_group(own, id, stop, [ring](const Group& group, std::exception_ptr failed) {
      if (failed) {
        ring->fail(failed);
      } else {
        ring->start(group);
      }
    });
  } catch (...) {
    ring->fail(std::current_exception());
  }
}

}  // namespace weir::distributed

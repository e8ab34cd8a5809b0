#include "ops/net/collective_rounds.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/errors.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// How long a member that has not called yet is told why there was no round.
constexpr std::chrono::seconds kFailureKept{10};

std::string who(const CollectiveCall& call) { return call.device + "\n" + call.node; }

const char* kind_name(const CollectiveCall& call) {
  return call.is_broadcast() ? "broadcast" : call.kind == CollectiveCall::Kind::Gather ? "gather" : "reduce";
}

// "…/device:CPU:10" comes after "…/device:CPU:2".
bool comes_before(std::string_view a, std::string_view b) {
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      uint64_t x = 0, y = 0;
      const auto after_x = std::from_chars(a.data(), a.data() + a.size(), x);
      const auto after_y = std::from_chars(b.data(), b.data() + b.size(), y);
      if (x != y) return x < y;
      a.remove_prefix(static_cast<size_t>(after_x.ptr - a.data()));
      b.remove_prefix(static_cast<size_t>(after_y.ptr - b.data()));
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

// What one member says against another; nothing when they agree.
std::optional<Error> contradiction(const CollectiveCall& one, const CollectiveCall& other) {
  auto differ = [&](std::string_view what, const std::string& a, const std::string& b) {
    return error(Code::InvalidArgument,
                 "{} mismatch in the collective instance {} of group {}. Op at device {} expected {} {} but another "
                 "member in the group, at {}, expected {}",
                 what, one.instance_key, one.group_key, one.device, what == "Shape" ? "shape" : "", a, other.device, b);
  };
  if (one.group_size != other.group_size) {
    return differ("Size", std::to_string(one.group_size), std::to_string(other.group_size));
  }
  if (std::strcmp(kind_name(one), kind_name(other)) != 0) return differ("Kind", kind_name(one), kind_name(other));
  if (one.dtype != other.dtype) {
    return differ("Type", std::string(dtype_name(one.dtype)), std::string(dtype_name(other.dtype)));
  }
  if (one.shape != other.shape) return differ("Shape", one.shape.str(), other.shape.str());
  if (one.merge_op != other.merge_op) return differ("merge_op", one.merge_op, other.merge_op);
  if (one.final_op != other.final_op) return differ("final_op", one.final_op, other.final_op);
  if (one.kind == CollectiveCall::Kind::Send && other.kind == CollectiveCall::Kind::Send) {
    return error(Code::Internal, "Instance {} already has source {}, received second claim from {}", one.instance_key,
                 other.device, one.device);
  }
  return std::nullopt;
}

template <class T, class F>
void merge_elements(const Tensor& a, const Tensor& b, Tensor& result, F merge_two) {
  const T* x = static_cast<const T*>(a.raw());
  const T* y = static_cast<const T*>(b.raw());
  T* z = static_cast<T*>(result.mutable_raw());
  for (int64_t i = 0; i < a.elements(); ++i) z[i] = T(merge_two(x[i], y[i]));
}

template <class T>
bool merge_as(const std::string& op, const Tensor& a, const Tensor& b, Tensor& result) {
  if (a.dtype() != dtype_of<T>) return false;
  if (op == "Add") {
    merge_elements<T>(a, b, result, [](T x, T y) { return x + y; });
  } else if (op == "Mul") {
    merge_elements<T>(a, b, result, [](T x, T y) { return x * y; });
  } else if (op == "Min") {
    merge_elements<T>(a, b, result, [](T x, T y) { return y < x ? y : x; });
  } else if (op == "Max") {
    merge_elements<T>(a, b, result, [](T x, T y) { return x < y ? y : x; });
  } else {
    throw invalid_argument("merge_op must be one of {{\"Min\", \"Max\", \"Mul\", \"Add\"}} but got {}", op);
  }
  return true;
}

template <class T>
bool divide_as(Tensor& value, int64_t by) {
  if (value.dtype() != dtype_of<T>) return false;
  T* data = static_cast<T*>(value.mutable_raw());
  for (int64_t i = 0; i < value.elements(); ++i) data[i] = T(data[i] / static_cast<T>(static_cast<float>(by)));
  return true;
}

// What all members of a process get.
Tensor result_of(const CollectiveRound& round) {
  const CollectiveCall& call = round.members.front().call;
  if (call.is_broadcast()) return round.members[static_cast<size_t>(round.source())].input;
  if (call.kind == CollectiveCall::Kind::Gather) {
    Shape shape = call.shape;
    shape.set_dim(0, shape.dim(0) * call.group_size);
    Tensor result(call.dtype, shape);
    char* to = static_cast<char*>(result.mutable_raw());
    for (const CollectiveMember& member : round.members) {
      if (member.input.bytes() > 0) std::memcpy(to, member.input.raw(), member.input.bytes());
      to += member.input.bytes();
    }
    return result;
  }
  Tensor result = round.members[0].input.copy();
  for (size_t i = 1; i < round.members.size(); ++i) result = merge(call.merge_op, result, round.members[i].input);
  if (call.final_op == "Div") divide(result, call.group_size);
  return result;
}

}  // namespace

int CollectiveRound::rank_of(const CollectiveCall& call) const {
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].call.device == call.device && members[i].call.node == call.node) return static_cast<int>(i);
  }
  throw error(Code::Internal, "{} at {} is no member of its round", call.node, call.device);
}

int CollectiveRound::source() const {
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].call.kind == CollectiveCall::Kind::Send) return static_cast<int>(i);
  }
  throw invalid_argument("no member of the broadcast {} of group {} sends", members.front().call.instance_key,
                         members.front().call.group_key);
}

const Tensor& CollectiveRound::result() const {
  std::call_once(once_, [this] { result_ = result_of(*this); });
  return result_;
}

struct CollectiveRounds::Entry {
  CollectiveMember member = {};
  Formed formed = {};
  bool stopped = false;  // guarded by mutex_
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
};

CollectiveRounds::Pending& CollectiveRounds::pending_for(const Keys& keys, const std::string& caller) {
  std::deque<Pending>& queue = pending_[keys];
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(queue, [&](const Pending& p) { return p.failed && now - p.failed_at > kFailureKept; });
  for (Pending& pending : queue) {
    if (!pending.seen.contains(caller)) return pending;
  }
  return queue.emplace_back();
}

void CollectiveRounds::check_fixed(const Keys& keys, const CollectiveCall& call) const {
  auto known = devices_of_.find(keys);
  if (!fixed_ || known == devices_of_.end() || known->second.contains(call.device)) return;
  // Where nodes share a device they are not told apart.
  if (static_cast<int64_t>(known->second.size()) < call.group_size) return;
  throw error(Code::Internal, "the collective instance {} of group {} has {} members, and {} is none of them",
              call.instance_key, call.group_key, known->second.size(), call.device);
}

void CollectiveRounds::take_out(const Keys& keys, const Pending& pending) {
  auto queue = pending_.find(keys);
  std::erase_if(queue->second, [&](const Pending& p) { return &p == &pending; });
  if (queue->second.empty()) pending_.erase(queue);
}

void CollectiveRounds::join(CollectiveMember member, const std::stop_token& stop, Formed formed) {
  const Keys keys{member.call.group_key, member.call.instance_key};
  const std::string caller = who(member.call);
  auto entry = std::make_shared<Entry>();
  entry->member = std::move(member);
  entry->formed = std::move(formed);
  // Before it waits, and without the lock: a run that has been stopped is told here.
  if (stop.stop_possible()) entry->on_stop.emplace(stop, [this, keys, e = entry.get()] { cancel(keys, e); });
  std::vector<std::shared_ptr<Entry>> ended;  // let go of without the lock
  std::shared_ptr<CollectiveRound> round;
  std::exception_ptr failed;
  try {
    std::lock_guard lock(mutex_);
    const CollectiveCall& call = entry->member.call;
    ended.push_back(entry);
    if (entry->stopped) throw error(Code::Cancelled, "the wait for the other members of a group was cancelled");
    check_fixed(keys, call);
    Pending& pending = pending_for(keys, caller);
    pending.seen.insert(caller);
    const bool all = static_cast<int64_t>(pending.seen.size()) >= call.group_size;
    if (pending.failed) {
      failed = pending.failed;
      if (all) take_out(keys, pending);
    } else {
      for (const auto& other : pending.entries) {
        if (auto against = contradiction(call, other->member.call)) failed = std::make_exception_ptr(*against);
        if (failed) break;
      }
      pending.entries.push_back(entry);
      if (failed) {
        ended = std::move(pending.entries);
        pending.entries.clear();
        pending.failed = failed;
        pending.failed_at = std::chrono::steady_clock::now();
        if (all) take_out(keys, pending);
      } else if (!all) {
        return;
      } else {
        ended = std::move(pending.entries);
        round = std::make_shared<CollectiveRound>();
        take_out(keys, pending);
        if (fixed_) {
          std::set<std::string>& devices = devices_of_[keys];
          devices.clear();
          for (const auto& e : ended) devices.insert(e->member.call.device);
        }
      }
    }
  } catch (...) {
    failed = std::current_exception();
  }
  if (round) {
    for (const auto& e : ended) round->members.push_back(e->member);
    std::stable_sort(round->members.begin(), round->members.end(), [](const auto& a, const auto& b) {
      return a.call.device != b.call.device ? comes_before(a.call.device, b.call.device) : a.call.node < b.call.node;
    });
  }
  for (const auto& e : ended) {
    e->on_stop.reset();
    e->formed(round, failed);
  }
}

void CollectiveRounds::cancel(const Keys& keys, const Entry* entry) {
  std::shared_ptr<Entry> ended;
  {
    std::lock_guard lock(mutex_);
    const_cast<Entry*>(entry)->stopped = true;
    auto queue = pending_.find(keys);
    if (queue == pending_.end()) return;  // not there yet, or not any more
    for (Pending& pending : queue->second) {
      auto found =
          std::find_if(pending.entries.begin(), pending.entries.end(), [&](const auto& e) { return e.get() == entry; });
      if (found == pending.entries.end()) continue;
      ended = std::move(*found);
      pending.entries.erase(found);
      pending.seen.erase(who(ended->member.call));
      if (pending.entries.empty()) take_out(keys, pending);
      break;
    }
  }
  if (!ended) return;
  // The callback's own memory goes with the entry; what is needed afterwards is kept here.
  const Formed formed = std::move(ended->formed);
  formed(nullptr,
         std::make_exception_ptr(error(Code::Cancelled, "the wait for the other members of a group was cancelled")));
}

Tensor merge(const std::string& merge_op, const Tensor& a, const Tensor& b) {
  Tensor result(a.dtype(), a.shape());
  const bool known = merge_as<float>(merge_op, a, b, result) || merge_as<double>(merge_op, a, b, result) ||
                     merge_as<Half>(merge_op, a, b, result) || merge_as<int32_t>(merge_op, a, b, result) ||
                     merge_as<int64_t>(merge_op, a, b, result);
  if (!known) throw error(Code::Internal, "values of type {} cannot be reduced", dtype_name(a.dtype()));
  return result;
}

void divide(Tensor& value, int64_t by) {
  const bool known = divide_as<float>(value, by) || divide_as<double>(value, by) || divide_as<Half>(value, by) ||
                     divide_as<int32_t>(value, by) || divide_as<int64_t>(value, by);
  if (!known) throw error(Code::Internal, "values of type {} cannot be divided", dtype_name(value.dtype()));
}

void LocalCollectives::run(const CollectiveCall& call, Tensor input, const std::stop_token& stop, Done done) {
  rounds_.join(
      {.call = call, .input = std::move(input)}, stop,
      [done = std::move(done)](const std::shared_ptr<const CollectiveRound>& round, std::exception_ptr failed) {
        Tensor result;
        if (!failed) {
          try {
            result = round->result();
          } catch (...) {
            failed = std::current_exception();
          }
        }
        done(std::move(result), failed);
      });
}

}  // namespace weir::ops

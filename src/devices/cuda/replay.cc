#include "devices/cuda/replay.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace weir::cuda {
namespace {

constexpr size_t kMostLaunches = 64;  // gathered: the device should not wait for long
constexpr size_t kLeastLaunches = 4;  // of a graph
constexpr int kSeenBefore = 2;
constexpr size_t kMostSequences = 512;
constexpr int kOfThread = 1;  // only this thread must not do what a capture forbids

}  // namespace

Replay::Replay(const Api& api, Stream stream)
    : api_(api), stream_(stream), works_(api.stream_begin_capture != nullptr) {}

Replay::~Replay() {
  for (auto& [hash, sequence] : sequences_) {
    if (sequence.graph) api_.graph_exec_destroy(sequence.graph);
  }
}

int Replay::launch(Function kernel, unsigned groups, unsigned items, std::span<const Parameter> parameters) {
  launches_.push_back({kernel, groups, items, bytes_.size(), places_.size(), parameters.size()});
  for (const Parameter& parameter : parameters) {
    const size_t at = bytes_.size();
    places_.push_back(at);
    bytes_.resize(at + (parameter.bytes + 7) / 8, 0);
    std::memcpy(&bytes_[at], parameter.data, parameter.bytes);
  }
  return launches_.size() < kMostLaunches ? kSuccess : flush();
}

void Replay::forget() {
  launches_.clear();
  bytes_.clear();
  places_.clear();
}

int Replay::flush() {
  if (launches_.empty()) return kSuccess;
  struct Forget {
    Replay& replay;
    ~Forget() { replay.forget(); }
  } forget_at_end{*this};
  if (!works_ || launches_.size() < kLeastLaunches) return begin_all();
  key_.assign(reinterpret_cast<const char*>(bytes_.data()), bytes_.size() * sizeof bytes_[0]);
  for (const Launch& one : launches_) {
    const uint64_t what[] = {reinterpret_cast<uintptr_t>(one.kernel), (uint64_t{one.groups} << 32) | one.items,
                             one.count};
    key_.append(reinterpret_cast<const char*>(what), sizeof what);
  }
  Sequence& sequence = sequence_of(key_);
  if (sequence.graph) return api_.graph_launch(sequence.graph, stream_);
  if (sequence.seen++ < kSeenBefore) return begin_all();
  const int status = capture(sequence);
  if (status == kSuccess) return api_.graph_launch(sequence.graph, stream_);
  works_ = false;  // and never again; nothing of it was begun
  return begin_all();
}

int Replay::begin_all() {
  void* parameters[128];
  for (const Launch& one : launches_) {
    for (size_t i = 0; i < one.count; ++i) parameters[i] = &bytes_[places_[one.first + i]];
    const int status =
        api_.launch_kernel(one.kernel, one.groups, 1, 1, one.items, 1, 1, 0, stream_, parameters, nullptr);
    if (status != kSuccess) return status;
  }
  return kSuccess;
}

int Replay::capture(Sequence& sequence) {
  if (const int status = api_.stream_begin_capture(stream_, kOfThread)) return status;
  const int begun = begin_all();
  Graph graph = nullptr;
  const int ended = api_.stream_end_capture(stream_, &graph);
  int status = begun != kSuccess ? begun : ended;
  if (status == kSuccess) status = api_.graph_instantiate(&sequence.graph, graph, 0);
  if (graph) api_.graph_destroy(graph);
  if (status != kSuccess) sequence.graph = nullptr;
  return status;
}

Replay::Sequence& Replay::sequence_of(const std::string& key) {
  const size_t hash = std::hash<std::string>()(key);
  auto known = sequences_.find(hash);
  if (known == sequences_.end() || known->second.key != key) {
    if (known == sequences_.end() && sequences_.size() >= kMostSequences) {
      known = std::min_element(sequences_.begin(), sequences_.end(),
                               [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    }
    if (known != sequences_.end()) {
      if (known->second.graph) api_.graph_exec_destroy(known->second.graph);
      sequences_.erase(known);
    }
    known = sequences_.emplace(hash, Sequence{.key = key}).first;
  }
  known->second.used = ++clock_;
  return known->second;
}

}  // namespace weir::cuda

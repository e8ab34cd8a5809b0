#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "devices/cuda/api.h"

namespace weir::cuda {

// Launches on a stream, gathered until somebody needs them to have been begun. A sequence that comes for the third
// time, with the same arguments, is captured as a graph, and is one call of the driver from then on: a plan's steps do
// not change from run to run, and neither do the addresses that they work on. Not thread-safe.
class Replay {
 public:
  Replay(const Api& api, Stream stream);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  struct Parameter {
    const void* data;
    size_t bytes;
  };
  // These give the driver's status.
  int launch(Function kernel, unsigned groups, unsigned items, std::span<const Parameter> parameters);
  int flush();

 private:
  struct Launch {
    Function kernel;
    unsigned groups, items;
    size_t at;     // of its parameters in bytes_, eight to each but the large ones
    size_t first;  // of its parameters in places_
    size_t count;
  };
  struct Sequence {
    std::string key;
    int seen = 0;
    int64_t used = 0;
    GraphExec graph = nullptr;
  };
  int begin_all();
  int capture(Sequence& sequence);
  Sequence& sequence_of(const std::string& key);
  void forget();

  const Api& api_;
  const Stream stream_;
  bool works_;
  std::vector<Launch> launches_;
  std::vector<uint64_t> bytes_;
  std::vector<size_t> places_;  // of parameters in bytes_
  std::string key_;
  std::map<size_t, Sequence> sequences_;  // by a hash; another one with the same hash takes its place
  int64_t clock_ = 0;
};

}  // namespace weir::cuda

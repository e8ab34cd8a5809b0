#pragma once

#include <array>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "weir/device.h"
#include "weir/export.h"
#include "weir/graph.h"
#include "weir/session_options.h"
#include "weir/tensor.h"

namespace weir {

class RemoteSession;

// What a traced run did: when each node ran, on which thread, and how much memory its outputs took.
class WEIR_API RunTrace {
 public:
  struct Event {
    std::string node, op, device;
    int thread = 0;
    int64_t start_ns = 0, end_ns = 0;  // since the run began
    int64_t output_bytes = 0;
    int64_t input_bytes = 0;
    double flops = 0;  // of matrix products and convolutions, by the direct method; 0: not counted
  };
  std::vector<Event> events;
  int64_t wall_start_us = 0;  // since the epoch
  int64_t arena_bytes = 0;
  std::string remote_stats = {};  // of a session on a server, instead of events: StepStats of all its tasks, serialised

  std::string step_stats() const;    // TensorFlow's StepStats message, serialised
  std::string chrome_trace() const;  // JSON for chrome://tracing
  std::string table() const;         // nodes by time: kernel, time, share, GFLOP/s or GB/s
};

struct RunOptions {
  std::chrono::milliseconds timeout{0};  // 0: the session's; throws DeadlineExceeded
  std::stop_token stop = {};             // ends the run from another thread; throws Cancelled
  RunTrace* trace = nullptr;             // filled when given
};

struct Feed {
  Output output;
  Tensor value;
};

// A view of feeds or targets as they are written in a call: {{x, xs}, {y, ys}} and {train}.
class Feeds {
 public:
  Feeds() = default;
  Feeds(std::initializer_list<Feed> feeds) : feeds_(feeds.begin(), feeds.size()) {}  // NOLINT
  Feeds(const std::vector<Feed>& feeds) : feeds_(feeds) {}                           // NOLINT
  std::span<const Feed> span() const { return feeds_; }

 private:
  std::span<const Feed> feeds_;
};
class Targets {
 public:
  Targets() = default;
  Targets(std::initializer_list<Operation> targets) : targets_(targets.begin(), targets.size()) {}  // NOLINT
  Targets(const std::vector<Operation>& targets) : targets_(targets) {}                             // NOLINT
  std::span<const Operation> span() const { return targets_; }

 private:
  std::span<const Operation> targets_;
};

class PartialRun;  // weir/partial_run.h

struct CallableSpec {
  std::vector<Output> feeds = {};
  std::vector<Output> fetches = {};
  std::vector<Operation> targets = {};
};

// Runs graphs. Holds the variables, the worker threads and the plans. Thread-safe: many threads may run at once.
// Fetched tensors outlive the session. The graph must outlive it, and may grow between runs. A fetched variable has its
// value after the run's writes. Several runs at once may use one variable: see docs/design.md, "State".
//
// Errors: InvalidArgument for feeds and fetches that do not fit, FailedPrecondition for uninitialised variables,
// DeadlineExceeded, Cancelled (also after close()), and whatever kernels throw, with the node's name and line. A failed
// run leaves the session usable.
class WEIR_API Session {
 public:
  explicit Session(Graph& graph, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Graph& graph() const;

  // The value of one output.
  Tensor run(const Output& fetch, const Feeds& feeds = {}, const Targets& targets = {}, const RunOptions& options = {});
  // auto [c, s] = session.run({cost, summary}, {{x, xs}}, {train});
  template <size_t N>
  std::array<Tensor, N> run(const Output (&fetches)[N], const Feeds& feeds = {}, const Targets& targets = {},
                            const RunOptions& options = {}) {
    std::array<Tensor, N> results;
    run_into({fetches, N}, feeds.span(), targets.span(), options, results);
    return results;
  }
  std::vector<Tensor> run(const std::vector<Output>& fetches, const Feeds& feeds = {}, const Targets& targets = {},
                          const RunOptions& options = {});
  // Runs operations for their effects.
  void run(const Operation& target, const Feeds& feeds = {}, const RunOptions& options = {});

  // Fixes feeds, fetches and targets once, so that a call looks nothing up. The callable may be called from several
  // threads and must not outlive the session.
  class WEIR_API Callable {
   public:
    template <class... T>
    std::vector<Tensor> operator()(const T&... feeds) const {
      const std::array<Tensor, sizeof...(T)> values = {Tensor(feeds)...};
      std::vector<Tensor> results(fetches());
      call(values, results);
      return results;
    }
    // The form that allocates nothing: one tensor for each feed and a place for each fetch.
    void call(std::span<const Tensor> feeds, std::span<Tensor> results, const RunOptions& options = {}) const;
    size_t fetches() const;

    struct Impl;
    explicit Callable(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

   private:
    std::shared_ptr<Impl> impl_;
  };
  Callable make_callable(const CallableSpec& spec);

  // Ends runs with Cancelled and refuses further ones: those that wait at once, those that compute when their present
  // step has ended. Returns without waiting for long steps; the destructor closes too, and waits for them. What the
  // session keeps for itself is freed when the last run has ended; what it shares (SessionOptions::resources) stays.
  void close();
  // A run in pieces, for sessions on a server: what is fed, fetched and run is said first, and then comes bit by bit.
  std::string partial_run_setup(const CallableSpec& spec);
  std::vector<Tensor> partial_run(const std::string& handle, const std::vector<Output>& fetches,
                                  const Feeds& feeds = {}, const RunOptions& options = {});

  // Those that the session uses, of all its tasks.
  std::vector<DeviceInfo> devices() const;

  // Takes out what these containers hold (none: the default one), for all who share them, and closes.
  void reset(const std::vector<std::string>& containers = {});

  void run_into(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
                const RunOptions& options, std::span<Tensor> results);

  struct Impl;

 private:
  friend class PartialRun;
  Graph* graph_;
  std::unique_ptr<Impl> impl_;             // null when there is...
  std::unique_ptr<RemoteSession> remote_;  // ...a server that runs the session
};

}  // namespace weir

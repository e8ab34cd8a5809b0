#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weir/device.h"
#include "weir/session.h"

namespace weir {

// A session that runs in a server (SessionOptions::target). Thread-safe, with the contract of Session.
class RemoteSession {
 public:
  class Callable {
   public:
    virtual ~Callable() = default;
    virtual void call(std::span<const Tensor> feeds, std::span<Tensor> results, const RunOptions& options) = 0;
    virtual size_t fetches() const = 0;
  };

  virtual ~RemoteSession() = default;
  virtual void run(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
                   const RunOptions& options, std::span<Tensor> results) = 0;
  virtual std::shared_ptr<Callable> make_callable(const CallableSpec& spec) = 0;
  virtual std::string partial_run_setup(const CallableSpec& spec) = 0;
  virtual void partial_run(const std::string& handle, std::span<const Output> fetches, std::span<const Feed> feeds,
                           std::span<Tensor> results, const RunOptions& options) = 0;
  virtual std::vector<DeviceInfo> devices() = 0;
  virtual void close() = 0;
  virtual void reset(const std::vector<std::string>& containers) = 0;
};

// Defined by src/distributed.
std::unique_ptr<RemoteSession> connect_session(Graph& graph, const SessionOptions& options);

}  // namespace weir

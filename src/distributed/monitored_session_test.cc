// Between-graph training by monitored sessions, over sockets.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "weir/weir.h"

namespace weir::train {
namespace {

// Addresses of ports that nobody uses, all different.
std::vector<std::string> free_addresses(int count) {
  std::vector<int> sockets;
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(sockets.back(), any, size), 0);
    EXPECT_EQ(::getsockname(sockets.back(), any, &size), 0);
    addresses.push_back("localhost:" + std::to_string(ntohs(address.sin_port)));
  }
  for (int socket : sockets) ::close(socket);
  return addresses;
}

class BetweenGraph : public ::testing::Test {
 protected:
  BetweenGraph() : folder_(::testing::TempDir() + "weir_between_" + std::to_string(getpid())) {
    try {
      ps_ = start("ps", 0);
    } catch (const Error& error) {
      if (error.code() == Code::Unimplemented) return;
      throw;
    }
    chief_ = start("worker", 0);
    worker_ = start("worker", 1);
  }
  ~BetweenGraph() override { std::filesystem::remove_all(folder_); }
  std::unique_ptr<Server> start(const std::string& job, int task) const {
    return std::make_unique<Server>(ServerOptions{.cluster = cluster_, .job = job, .task = task});
  }

  // w counts the steps of all workers.
  struct Model {
    Graph g;
    Variable step, w;
    Operation train;
    explicit Model(const ClusterSpec& cluster, int task) {
      auto scope = replica_device_setter(g, cluster, {.worker_device = "/job:worker/task:" + std::to_string(task)});
      step = get_or_create_global_step(g);
      w = g.get_variable("w", Shape{}, {.initializer = zeros_initializer()});
      Operation add = assign_add(w, 1.f, {}, {.use_locking = true}).op();
      auto after = g.control_dependencies({add});
      train = assign_add(step, Tensor(int64_t{1}), {}, {.use_locking = true}).op();
    }
  };
  MonitoredTrainingSessionOptions options(const Server& server, bool is_chief, int64_t last_step) const {
    return {.is_chief = is_chief,
            .checkpoint_dir = is_chief ? folder_ : "",
            .hooks = {StopAtStepHook({.last_step = last_step})},
            .save_checkpoints = {.steps = 5},
            .session = {.target = server.target()},
            .handle_sigterm = false,
            .log = [](std::string_view) {}};
  }

  const std::vector<std::string> addresses_ = free_addresses(3);
  const ClusterSpec cluster_ = {{"ps", {{0, addresses_[0]}}}, {"worker", {{0, addresses_[1]}, {1, addresses_[2]}}}};
  std::unique_ptr<Server> ps_, chief_, worker_;
  std::string folder_;
};

TEST_F(BetweenGraph, WorkersCountTogetherAndTheChiefSaves) {
  if (!ps_) GTEST_SKIP() << "without gRPC";
  std::thread other([&] {
    Model model(cluster_, 1);
    MonitoredTrainingSession session(model.g, options(*worker_, false, 40));
    session.run_steps([&] { session.run(model.train); });
  });
  {
    Model model(cluster_, 0);
    EXPECT_EQ(model.w.handle().op().device(), "/job:ps/task:0");
    MonitoredTrainingSession session(model.g, options(*chief_, true, 40));
    session.run_steps([&] { session.run(model.train); });
  }
  other.join();
  const auto checkpoint = latest_checkpoint(folder_);
  ASSERT_TRUE(checkpoint);
  const CheckpointReader reader(*checkpoint);
  EXPECT_GE(reader.get_tensor("global_step").scalar<int64_t>(), 40);
  EXPECT_GE(reader.get_tensor("w").scalar<float>(), 40.f);
}

}  // namespace
}  // namespace weir::train

#pragma once

#include <gloo/rendezvous/store.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::collectives {

// Where the processes of a group find each other: rank 0 keeps a few small values, each process's address among them,
// and gives them to whoever asks. Used until all are connected.
class MeetingPoint final : public gloo::rendezvous::Store {
 public:
  struct Options {
    std::string address;  // "host:port"
    bool serves = false;  // this is rank 0
    int size = 1;
    std::chrono::milliseconds timeout{300'000};
  };
  // Throws std::exception when rank 0 cannot be reached, or its port be had, in time.
  explicit MeetingPoint(const Options& options);
  ~MeetingPoint() override;

  void set(const std::string& key, const std::vector<char>& data) override;
  // Waits until there is a value.
  std::vector<char> get(const std::string& key) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  // Waits until all processes have come here. Rank 0 must not leave before.
  void leave();

 private:
  void listen(const std::string& host, const std::string& port);
  void connect(const std::string& host, const std::string& port);
  void serve();
  void answer(int socket);
  std::vector<char> wait_for(const std::string& key);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<char>> values_;
  int left_ = 0;
  bool ends_ = false;
  int listener_ = -1, socket_ = -1;
  std::thread server_;
  std::vector<std::thread> answers_;
};

}  // namespace weir::collectives

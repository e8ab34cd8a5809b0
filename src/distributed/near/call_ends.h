#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "distributed/near/frame.h"

namespace weir::distributed {

// After so long without an answer a caller asks whether the server still runs.
inline constexpr std::chrono::seconds kSilence{10};

// A connection to a server. Idle ones are kept for the next call.
struct NearConnection {
  NearConnection(Socket s, size_t most_bytes) : socket(std::move(s)), reader(most_bytes) {}
  Socket socket;
  FrameReader reader;
  bool is_watched = false;  // the threads that end calls know it
};

// A call that is under way. What ends it other than its answer ends the socket, and says why before.
struct NearCall {
  enum class Why { None, Stopped, Late, Silent };
  std::unique_ptr<NearConnection> connection = {};
  Deadline deadline = kNoDeadline;
  Deadline next_look = kNoDeadline;  // when to ask whether the server still runs
  std::atomic<Why> why = Why::None;
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};

  void end(Why reason) {
    Why none = Why::None;
    why.compare_exchange_strong(none, reason);
    connection->socket.end();
  }
  void end_on(const std::stop_token& stop) {
    if (stop.stop_possible()) on_stop.emplace(stop, [this] { end(Why::Stopped); });
  }
  // What came of it. REQUIRES: the reader has come to an end.
  Reply reply(FrameReader::State state);
};

// The threads that end the calls for which nobody waits.
class NearCallEnds {
 public:
  // The process's.
  static NearCallEnds& instance();

  struct Begun {
    NearCall call = {};
    std::function<void(Begun&, FrameReader::State)> ended = {};  // called once, without a lock
    std::function<void(uint64_t id)> look = {};                  // asks whether the server runs, without waiting
  };
  // Takes over a call whose request is written.
  void add(std::shared_ptr<Begun> begun);
  // The server of this call does not answer any more.
  void silent(uint64_t id);

 private:
  NearCallEnds();
  void serve();
  void look_after();
  void finish(uint64_t id);

  Socket events_, wake_;
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Begun>> calls_;  // all guarded by mutex_
  uint64_t next_id_ = 1;
  Deadline next_look_;
};

}  // namespace weir::distributed

#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "weir/error.h"
#include "weir/export.h"

namespace weir::train {

// Ends threads together: whichever of them ends first, by an error or because its input is exhausted, ends all.
//
//   train::Coordinator coordinator;
//   auto threads = train::start_queue_runners(session, coordinator);
//   while (!coordinator.should_stop()) session.run(train);
//   coordinator.request_stop();
//   coordinator.join();
//
// Thread-safe, but for its end: the destructor asks the threads that it started to stop and waits for them.
class WEIR_API Coordinator {
 public:
  // Errors with these codes are a good reason to stop, and no error of the program: the end of the input.
  explicit Coordinator(std::vector<Code> clean_stop = {Code::OutOfRange});
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Asks every thread to stop. The first error before any stop is kept, and thrown by join().
  void request_stop() { request_stop(nullptr); }
  void request_stop(std::exception_ptr error);
  bool should_stop() const;
  // Throws the error that was kept, if there is one, as join() does in the end.
  void rethrow() const;
  // Stopped when a stop is requested; for RunOptions::stop, which ends runs that wait.
  std::stop_token token() const;
  // Waits for a stop: for so long at most, and no longer than until `interrupt` is stopped. Says whether it was
  // requested.
  bool wait_for_stop(std::optional<std::chrono::nanoseconds> timeout = {}, const std::stop_token& interrupt = {}) const;
  // Takes the request back, and the error.
  void clear_stop();

  // Starts a thread. What `work` throws is an error to stop for; it should end soon after a stop was requested.
  void start(std::string name, std::function<void(Coordinator&)> work);
  // Waits until every thread has ended, or a stop was requested and the grace period is over. Throws the error that was
  // kept; DeadlineExceeded, with the names of the threads, when some have not ended.
  void join(std::chrono::milliseconds grace = std::chrono::minutes(2));

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace weir::train

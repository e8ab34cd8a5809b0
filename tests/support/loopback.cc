#include "tests/support/loopback.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace weir::distributed {
namespace {

// What is open, and the chances of what is carried. Shared by all ends.
struct Net {
  explicit Net(const LoopbackFaults& f) : faults(f), generator(f.seed) {}

  struct Open {
    Handler handler;
    int calls = 0;  // under way
    std::stop_source gone;
  };

  // One more message has come to its end. Ends whoever is to be killed at it.
  void count_message() {
    std::vector<std::string> killed;
    std::vector<std::shared_ptr<Open>> victims;
    {
      std::lock_guard lock(mutex);
      const int number = messages++;
      for (const LoopbackFaults::Kill& kill : faults.kills) {
        auto found = open.find(kill.address);
        if (kill.message != number || found == open.end()) continue;
        killed.push_back(kill.address);
        victims.push_back(found->second);
        open.erase(found);
      }
    }
    for (const auto& victim : victims) victim->gone.request_stop();
    for (const std::string& address : killed) faults.killed(address);
  }

  bool happens(double chance) {
    std::lock_guard lock(mutex);
    return chance > 0 && std::uniform_real_distribution<>(0, 1)(generator) < chance;
  }
  // As long as a message takes.
  void pause() {
    std::chrono::microseconds time{0};
    {
      std::lock_guard lock(mutex);
      auto up_to = [&](int most) {
        return std::chrono::microseconds(std::uniform_int_distribution<>(1, most)(generator));
      };
      std::uniform_real_distribution<> chance(0, 1);
      if (faults.delay > 0 && chance(generator) < faults.delay) time += up_to(3'000);
      if (faults.stall > 0 && chance(generator) < faults.stall) time += up_to(200'000);
    }
    if (time.count() > 0) std::this_thread::sleep_for(time);
  }

  const LoopbackFaults faults;
  std::mutex mutex;
  std::condition_variable changed;
  std::mt19937_64 generator;                          // all guarded by mutex
  std::map<std::string, std::shared_ptr<Open>> open;  // by address
  int next_port = 1;
  int messages = 0;
};

// One call: the caller's and the handler's ends meet here, and whichever comes first ends it.
struct Call {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;               // guarded by mutex
  std::function<void(Reply)> done;  // guarded by mutex
  std::stop_source stop;

  bool has_ended() {
    std::lock_guard lock(mutex);
    return ended;
  }
  void end(Reply reply) {
    std::function<void(Reply)> tell;
    {
      std::lock_guard lock(mutex);
      if (std::exchange(ended, true)) return;
      tell = std::move(done);
    }
    tell(std::move(reply));
    std::lock_guard lock(mutex);
    changed.notify_all();
  }
};

Reply lost() { return {.code = Code::Unavailable, .error = "the connection is lost", .lost = true}; }

class LoopbackIncoming final : public Incoming {
 public:
  LoopbackIncoming(std::shared_ptr<Net> net, std::shared_ptr<Call> call, std::string method, Message request,
                   Deadline deadline)
      : net_(std::move(net)),
        call_(std::move(call)),
        method_(std::move(method)),
        request_(std::move(request)),
        deadline_(deadline) {}
  ~LoopbackIncoming() override { fail(Code::Internal, "the call was dropped without an answer", {}); }
  LoopbackIncoming(const LoopbackIncoming&) = delete;
  LoopbackIncoming& operator=(const LoopbackIncoming&) = delete;

  std::string_view method() const override { return method_; }
  const Message& request() const override { return request_; }
  std::string peer() const override { return "loopback"; }
  std::string token() const override { return {}; }
  std::stop_token stop() const override { return call_->stop.get_token(); }
  Deadline deadline() const override { return deadline_; }
  void answer(Message body) override { send({.body = Message(body.flat())}); }
  void fail(Code code, const std::string& message, const std::string& details) override {
    send({.code = code, .error = message, .details = details});
  }

 private:
  void send(Reply reply) {
    net_->count_message();
    call_->end(net_->happens(net_->faults.lose_answer) ? lost() : std::move(reply));
  }

  const std::shared_ptr<Net> net_;
  const std::shared_ptr<Call> call_;
  const std::string method_;
  const Message request_;
  const Deadline deadline_;
};

class LoopbackListener final : public Listener {
 public:
  LoopbackListener(std::shared_ptr<Net> net, std::string address, std::shared_ptr<Net::Open> open, int port)
      : net_(std::move(net)), address_(std::move(address)), open_(std::move(open)), port_(port) {}
  ~LoopbackListener() override { close(); }
  int port() const override { return port_; }
  void close() override {
    {
      std::lock_guard lock(net_->mutex);
      auto found = net_->open.find(address_);
      if (found != net_->open.end() && found->second == open_) net_->open.erase(found);
    }
    open_->gone.request_stop();
    std::unique_lock lock(net_->mutex);
    net_->changed.wait(lock, [&] { return open_->calls == 0; });
  }

 private:
  const std::shared_ptr<Net> net_;
  const std::string address_;
  const std::shared_ptr<Net::Open> open_;
  const int port_;
};

class LoopbackChannel final : public Channel {
 public:
  LoopbackChannel(std::shared_ptr<Net> net, std::string address) : net_(std::move(net)), address_(std::move(address)) {}

  void begin(std::string_view method, Message request, const CallOptions& options,
             std::function<void(Reply)> done) override {
    auto call = std::make_shared<Call>();
    call->done = std::move(done);
    std::thread([net = net_, address = address_, call, name = std::string(method), bytes = Message(request.flat()),
                 options] {
      carry(net, address, call, name, bytes, options);
    }).detach();
  }

  Reply call(std::string_view method, Message request, const CallOptions& options) override {
    Reply result;
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    begin(method, std::move(request), options, [&](Reply reply) {
      std::lock_guard lock(mutex);
      result = std::move(reply);
      ended = true;
      changed.notify_all();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ended; });
    return result;
  }

 private:
  static void carry(const std::shared_ptr<Net>& net, const std::string& address, const std::shared_ptr<Call>& call,
                    const std::string& method, const Message& bytes, const CallOptions& options) {
    std::stop_callback by_caller(options.stop, [&] {
      call->stop.request_stop();
      call->end({.code = Code::Cancelled, .error = "the caller has given up"});
    });
    net->pause();
    net->count_message();
    std::shared_ptr<Net::Open> open;
    while (true) {
      {
        std::lock_guard lock(net->mutex);
        auto found = net->open.find(address);
        if (found != net->open.end()) {
          open = found->second;
          ++open->calls;
          break;
        }
      }
      if (!options.wait_for_ready || std::chrono::steady_clock::now() >= options.deadline ||
          options.stop.stop_requested()) {
        call->end(lost());
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    {
      std::stop_callback by_listener(open->gone.get_token(), [&] {
        call->stop.request_stop();
        call->end(lost());
      });
      // What was given up before it was sent never comes.
      if (call->has_ended() || net->happens(net->faults.lose_request)) {
        call->end(lost());
        leave(*net, *open);
      } else {
        // The caller's deadline is his own affair, whatever the other side does.
        std::thread([net, open, call, method, bytes, deadline = options.deadline] {
          const bool again = net->happens(net->faults.repeat);
          open->handler(std::make_shared<LoopbackIncoming>(net, call, method, bytes, deadline));
          if (again) repeat(net, *open, method, bytes, deadline);
          leave(*net, *open);
        }).detach();
      }
      wait(*call, options.deadline);
    }
  }

  static void leave(Net& net, Net::Open& open) {
    std::lock_guard lock(net.mutex);
    --open.calls;
    net.changed.notify_all();
  }

  // Whoever handles it must not wait for the answer: the call ends when the handler has returned.
  static void repeat(const std::shared_ptr<Net>& net, Net::Open& open, const std::string& method, const Message& bytes,
                     Deadline deadline) {
    auto unheard = std::make_shared<Call>();
    unheard->done = [](const Reply&) {};
    std::stop_callback by_listener(open.gone.get_token(), [&] { unheard->stop.request_stop(); });
    open.handler(std::make_shared<LoopbackIncoming>(net, unheard, method, bytes, deadline));
    unheard->stop.request_stop();
  }

  static void wait(Call& call, Deadline deadline) {
    std::unique_lock lock(call.mutex);
    auto ended = [&] { return call.ended; };
    if (deadline == kNoDeadline) {
      call.changed.wait(lock, ended);
    } else if (!call.changed.wait_until(lock, deadline, ended)) {
      lock.unlock();
      call.stop.request_stop();
      call.end({.code = Code::DeadlineExceeded, .error = "Deadline Exceeded"});
    }
  }

  const std::shared_ptr<Net> net_;
  const std::string address_;
};

class LoopbackTransport final : public Transport {
 public:
  explicit LoopbackTransport(const LoopbackFaults& faults) : net_(std::make_shared<Net>(faults)) {}
  std::unique_ptr<Listener> listen(const ListenOptions& options, Handler handler) override {
    auto open = std::make_shared<Net::Open>();
    open->handler = std::move(handler);
    std::lock_guard lock(net_->mutex);
    if (!net_->open.emplace(options.address, open).second) {
      throw Error(Code::Unavailable, "the address '" + options.address + "' is in use");
    }
    return std::make_unique<LoopbackListener>(net_, options.address, std::move(open), net_->next_port++);
  }
  std::shared_ptr<Channel> connect(const std::string& address, const ConnectOptions&) override {
    return std::make_shared<LoopbackChannel>(net_, address);
  }

 private:
  const std::shared_ptr<Net> net_;
};

}  // namespace

std::shared_ptr<Transport> make_loopback(const LoopbackFaults& faults) {
  return std::make_shared<LoopbackTransport>(faults);
}

}  // namespace weir::distributed

#include "tests/support/loopback.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace weir::distributed {
namespace {

// What happens to one call.
struct Fate {
  std::chrono::microseconds pause{0};  // before it comes
  bool lose_request = false, lose_answer = false, repeat = false;
};

// The last word of "/tensorflow.WorkerService/RunGraph".
std::string_view last_word(std::string_view method) { return method.substr(method.rfind('/') + 1); }

// What is open, and the fates of what is carried. Shared by all ends.
struct Net {
  explicit Net(const LoopbackFaults& f) : faults(f) {}

  struct Open {
    Handler handler;
    int calls = 0;  // under way
    std::stop_source gone;
  };

  Fate next_fate(const std::string& caller, const std::string& address, std::string_view method) {
    std::string link = caller + ' ' + address + ' ' + std::string(last_word(method));
    int before;
    {
      std::lock_guard lock(mutex);
      before = sent[link]++;
    }
    std::vector<uint32_t> words(link.begin(), link.end());
    for (const uint64_t number : {faults.seed, faults.seed >> 32, static_cast<uint64_t>(before)})
      words.push_back(static_cast<uint32_t>(number));
    std::seed_seq sequence(words.begin(), words.end());
    std::mt19937 random(sequence);
    // Every number is drawn, whether it is needed or not, so that no chance changes what others mean.
    auto happens = [&](double chance) { return std::uniform_real_distribution<>(0, 1)(random) < chance; };
    auto up_to = [&](int most) { return std::chrono::microseconds(std::uniform_int_distribution<>(1, most)(random)); };
    Fate fate;
    const auto delay = up_to(3'000), stall = up_to(200'000);
    if (happens(faults.delay)) fate.pause += delay;
    if (happens(faults.stall)) fate.pause += stall;
    fate.lose_request = happens(faults.lose_request);
    fate.lose_answer = happens(faults.lose_answer);
    fate.repeat = happens(faults.repeat);
    return fate;
  }

  // A call of the address has come, or is answered. Ends whoever is to be killed at it.
  void note(const std::string& address, std::string_view method, bool at_answer) {
    if (faults.kills.empty()) return;
    std::shared_ptr<Open> victim;
    {
      std::lock_guard lock(mutex);
      const int number =
          met[std::string(at_answer ? "answer " : "call ") + address + ' ' + std::string(last_word(method))]++;
      auto found = open.find(address);
      if (found == open.end()) return;
      for (const LoopbackFaults::Kill& kill : faults.kills) {
        if (kill.address == address && kill.method == last_word(method) && kill.call == number &&
            kill.at_answer == at_answer) {
          victim = found->second;
        }
      }
      if (!victim) return;
      open.erase(found);
    }
    victim->gone.request_stop();
    faults.killed(address);
  }

  const LoopbackFaults faults;
  std::mutex mutex;
  std::condition_variable changed;
  // All guarded by mutex:
  std::map<std::string, int> sent, met;               // calls, by who, to whom and what
  std::map<std::string, std::shared_ptr<Open>> open;  // by address
  int next_port = 1;
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
  LoopbackIncoming(std::shared_ptr<Net> net, std::shared_ptr<Call> call, std::string address, std::string method,
                   Message request, Deadline deadline, bool lose_answer)
      : net_(std::move(net)),
        call_(std::move(call)),
        address_(std::move(address)),
        method_(std::move(method)),
        request_(std::move(request)),
        deadline_(deadline),
        lose_answer_(lose_answer) {}
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
    if (answered_.exchange(true)) return;
    net_->note(address_, method_, /*at_answer=*/true);
    call_->end(lose_answer_ ? lost() : std::move(reply));
  }

  const std::shared_ptr<Net> net_;
  const std::shared_ptr<Call> call_;
  const std::string address_, method_;
  const Message request_;
  const Deadline deadline_;
  const bool lose_answer_;
  std::atomic<bool> answered_ = false;
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
  LoopbackChannel(std::shared_ptr<Net> net, std::string caller, std::string address)
      : net_(std::move(net)), caller_(std::move(caller)), address_(std::move(address)) {}

  void begin(std::string_view method, Message request, const CallOptions& options,
             std::function<void(Reply)> done) override {
    auto call = std::make_shared<Call>();
    call->done = std::move(done);
    // Here, in the order of the caller's calls, not when its thread comes to run.
    const Fate fate = net_->next_fate(caller_, address_, method);
    std::thread([net = net_, address = address_, call, name = std::string(method), bytes = Message(request.flat()),
                 options, fate] {
      carry(net, address, call, name, bytes, options, fate);
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
                    const std::string& method, const Message& bytes, const CallOptions& options, const Fate& fate) {
    std::stop_callback by_caller(options.stop, [&] {
      call->stop.request_stop();
      call->end({.code = Code::Cancelled, .error = "the caller has given up"});
    });
    if (fate.pause.count() > 0) std::this_thread::sleep_for(fate.pause);
    net->note(address, method, /*at_answer=*/false);
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
      if (call->has_ended() || fate.lose_request) {
        call->end(lost());
        leave(*net, *open);
      } else {
        // The caller's deadline is his own affair, whatever the other side does.
        std::thread([net, open, call, address, method, bytes, deadline = options.deadline, fate] {
          open->handler(
              std::make_shared<LoopbackIncoming>(net, call, address, method, bytes, deadline, fate.lose_answer));
          if (fate.repeat) repeat(net, *open, address, method, bytes, deadline);
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
  static void repeat(const std::shared_ptr<Net>& net, Net::Open& open, const std::string& address,
                     const std::string& method, const Message& bytes, Deadline deadline) {
    auto unheard = std::make_shared<Call>();
    unheard->done = [](const Reply&) {};
    std::stop_callback by_listener(open.gone.get_token(), [&] { unheard->stop.request_stop(); });
    open.handler(std::make_shared<LoopbackIncoming>(net, unheard, address, method, bytes, deadline, false));
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
  const std::string caller_, address_;
};

class LoopbackTransport final : public Transport {
 public:
  LoopbackTransport(std::shared_ptr<Net> net, std::string caller) : net_(std::move(net)), caller_(std::move(caller)) {}
  std::shared_ptr<Transport> of(std::string caller) const {
    return std::make_shared<LoopbackTransport>(net_, std::move(caller));
  }
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
    return std::make_shared<LoopbackChannel>(net_, caller_, address);
  }

 private:
  const std::shared_ptr<Net> net_;
  const std::string caller_;
};

}  // namespace

std::shared_ptr<Transport> make_loopback(const LoopbackFaults& faults) {
  return std::make_shared<LoopbackTransport>(std::make_shared<Net>(faults), "");
}

std::shared_ptr<Transport> loopback_of(const std::shared_ptr<Transport>& loopback, std::string caller) {
  return static_cast<const LoopbackTransport&>(*loopback).of(std::move(caller));
}

}  // namespace weir::distributed

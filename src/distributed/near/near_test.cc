#include "distributed/near/near.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "distributed/near/names.h"

namespace weir::distributed {
namespace {

using namespace std::chrono_literals;

Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

// Another way to the server, that says of each call that it came.
class FarChannel final : public Channel {
 public:
  explicit FarChannel(Code code = Code::Unimplemented) : code_(code) {}
  void begin(std::string_view method, Message request, const CallOptions& options,
             std::function<void(Reply)> done) override {
    done(call(method, std::move(request), options));
  }
  Reply call(std::string_view, Message, const CallOptions&) override {
    ++calls;
    return {.code = code_, .error = "far"};
  }
  std::atomic<int> calls = 0;

 private:
  const Code code_;
};

// Answers "echo" with what it was sent, "token" with the token; "wait" when it is stopped, "later" from another thread,
// "fail" with an error.
class Server {
 public:
  Server() : listener_(listen_near([this](const std::shared_ptr<Incoming>& call) { handle(call); }, 1 << 26)) {}
  ~Server() {
    listener_->close();
    for (std::thread& thread : threads_) thread.join();
  }
  std::shared_ptr<Channel> connect(const std::string& token = "") {
    return connect_near_socket(listener_->name(), far, {.credentials = {.token = token}}, {});
  }
  NearListener& listener() { return *listener_; }
  std::shared_ptr<FarChannel> far = std::make_shared<FarChannel>();
  std::atomic<int> waiting = 0, stopped = 0;

 private:
  void handle(const std::shared_ptr<Incoming>& call) {
    if (call->method() == "echo") {
      call->answer(Message(call->request().flat()));
    } else if (call->method() == "token") {
      call->answer(Message(call->token()));
    } else if (call->method() == "deadline") {
      call->answer(Message(call->deadline() == kNoDeadline ? "none" : "some"));
    } else if (call->method() == "fail") {
      call->fail(Code::OutOfRange, "no more", "details");
    } else if (call->method() == "throw") {
      throw Error(Code::DataLoss, "thrown");
    } else if (call->method() == "later") {
      std::lock_guard lock(mutex_);
      threads_.emplace_back([call] { call->answer(Message("late")); });
    } else if (call->method() == "wait") {
      std::promise<void> ended;
      std::stop_callback on_stop(call->stop(), [&] { ended.set_value(); });
      ++waiting;
      ended.get_future().wait();
      ++stopped;
    }
  }
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::unique_ptr<NearListener> listener_;
};

Reply begin_and_wait(Channel& channel, std::string_view method, Message request, const CallOptions& options) {
  std::promise<Reply> reply;
  channel.begin(method, std::move(request), options, [&](Reply r) { reply.set_value(std::move(r)); });
  return reply.get_future().get();
}

TEST(Near, AnswersCallsOfAllSizes) {
  Server server;
  const auto channel = server.connect();
  for (const size_t size : {0, 1, 4000, 4096, 5000, 300'000, 30'000'000}) {
    const std::string text(size, 'x');
    Message request;
    request.add(text.data(), size / 2, nullptr);
    request.add(text.data() + size / 2, size - size / 2, nullptr);
    EXPECT_EQ(channel->call("echo", request, {}).body.flat(), text) << size;
    EXPECT_EQ(begin_and_wait(*channel, "echo", request, {}).body.flat(), text) << size;
  }
  EXPECT_EQ(server.far->calls, 0);
}

TEST(Near, CarriesErrorsTokensAndDeadlines) {
  Server server;
  const auto channel = server.connect("secret");
  EXPECT_EQ(channel->call("token", {}, {}).body.flat(), "secret");
  EXPECT_EQ(channel->call("deadline", {}, {}).body.flat(), "none");
  EXPECT_EQ(channel->call("deadline", {}, {.deadline = in(5s)}).body.flat(), "some");
  const Reply failed = channel->call("fail", {}, {});
  EXPECT_EQ(failed.code, Code::OutOfRange);
  EXPECT_EQ(failed.error, "no more");
  EXPECT_EQ(failed.details, "details");
  EXPECT_FALSE(failed.lost);
  EXPECT_EQ(channel->call("throw", {}, {}).code, Code::DataLoss);
  EXPECT_EQ(channel->call("forgotten", {}, {}).code, Code::Internal);
  EXPECT_EQ(channel->call("later", {}, {}).body.flat(), "late");
}

TEST(Near, AnswersManyAtOnceWhileOthersWait) {
  Server server;
  const auto channel = server.connect();
  std::stop_source stop;
  std::atomic<int> ended = 0;
  constexpr int kWaits = 20;
  for (int i = 0; i < kWaits; ++i) {
    channel->begin("wait", {}, {.stop = stop.get_token()}, [&](const Reply& reply) {
      EXPECT_EQ(reply.code, Code::Cancelled);
      ++ended;
    });
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string text = std::to_string(t) + "/" + std::to_string(i);
        EXPECT_EQ(channel->call("echo", Message(text), {}).body.flat(), text);
        EXPECT_EQ(begin_and_wait(*channel, "echo", Message(text), {}).body.flat(), text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (server.waiting < kWaits) std::this_thread::yield();
  stop.request_stop();
  while (ended < kWaits || server.stopped < kWaits) std::this_thread::yield();  // both sides hear of it
}

TEST(Near, EndsCallsAtTheirDeadlineAndTellsTheServer) {
  Server server;
  const auto channel = server.connect();
  // On a busy machine the time can be up before a call has come to the server.
  auto until_one_came = [&](const std::function<Reply()>& call) {
    for (const int before = server.waiting; server.waiting == before;) EXPECT_EQ(call().code, Code::DeadlineExceeded);
    while (server.stopped < server.waiting) std::this_thread::yield();
  };
  until_one_came([&] { return channel->call("wait", {}, {.deadline = in(20ms)}); });
  until_one_came([&] { return begin_and_wait(*channel, "wait", {}, {.deadline = in(20ms)}); });
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(channel->call("echo", {}, {.stop = stop.get_token()}).code, Code::Cancelled);
  EXPECT_EQ(channel->call("echo", Message("on"), {}).body.flat(), "on");
}

TEST(Near, IsLostWhenTheServerEndsAndStaysWithTheOtherWay) {
  auto server = std::make_unique<Server>();
  const auto far = server->far;
  int nowhere = 0;
  const auto channel = connect_near_socket(server->listener().name(), far, {}, [&] { ++nowhere; });
  std::promise<Reply> waited;
  channel->begin("wait", {}, {}, [&](Reply reply) { waited.set_value(std::move(reply)); });
  while (server->waiting < 1) std::this_thread::yield();
  EXPECT_EQ(channel->call("echo", Message("on"), {}).body.flat(), "on");
  server = nullptr;
  const Reply lost = waited.get_future().get();
  EXPECT_EQ(lost.code, Code::Unavailable);
  EXPECT_TRUE(lost.lost);
  EXPECT_EQ(channel->call("echo", {}, {}).error, "far");
  EXPECT_EQ(begin_and_wait(*channel, "echo", {}, {}).error, "far");
  EXPECT_EQ(nowhere, 1);
}

TEST(Near, RunsTheHandlerInTheCallersThreadWithinAProcessWhileTheServerIsThere) {
  std::thread::id handled;
  auto listener = listen_near(
      [&](const std::shared_ptr<Incoming>& call) {
        handled = std::this_thread::get_id();
        call->answer(Message(call->token() + call->request().flat()));
      },
      0);
  const auto far = std::make_shared<FarChannel>();
  int nowhere = 0;
  const auto channel = connect_near(listener->name(), far, {.credentials = {.token = "t"}}, [&] { ++nowhere; });
  EXPECT_EQ(channel->call("any", Message("x"), {}).body.flat(), "tx");
  EXPECT_EQ(handled, std::this_thread::get_id());
  listener->close();
  EXPECT_EQ(nowhere, 0);
  EXPECT_EQ(channel->call("any", {}, {}).error, "far");  // where another server may listen by now
  EXPECT_EQ(channel->call("any", {}, {}).error, "far");
  EXPECT_EQ(nowhere, 1);
}

TEST(Near, ClosesWhileCallsOfItsOwnProcessWait) {
  Server server;
  const auto channel = connect_near(server.listener().name(), server.far, {}, {});
  std::thread caller([&] { EXPECT_NE(channel->call("wait", {}, {}).code, Code::Ok); });
  while (server.waiting < 1) std::this_thread::yield();
  server.listener().close();
  caller.join();
}

// What anybody of this user could write to the socket.
TEST(Near, DropsConnectionsThatSayNothingSensible) {
  Server server;
  socklen_t size = 0;
  const sockaddr_un address = near_address(server.listener().name(), size);
  FrameHead huge, endless, late;
  huge.body = uint64_t{1} << 60;
  endless.first = endless.second = UINT32_MAX;
  late.timeout_us = INT64_MIN;
  std::vector<std::string> all = {std::string(100, 'x'), std::string(5000, '\0'), "x"};
  for (const FrameHead& head : {huge, endless, late}) {
    all.emplace_back(reinterpret_cast<const char*>(&head), sizeof(head));
    all.push_back(all.back() + "and more");
  }
  for (const std::string& bytes : all) {
    const Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    ASSERT_EQ(send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    shutdown(socket.fd(), SHUT_WR);
    char rest[256];
    while (recv(socket.fd(), rest, sizeof(rest), 0) > 0) {
    }
  }
  EXPECT_EQ(server.connect()->call("echo", Message("on"), {}).body.flat(), "on");
}

}  // namespace
}  // namespace weir::distributed

#include "distributed/near/own_server.h"

namespace weir::distributed {
namespace {

// The answer of a call, wherever it is given.
struct Answer {
  std::mutex mutex;
  std::condition_variable given;
  bool is_given = false;  // both guarded by mutex
  Reply reply;

  void give(Reply r) {
    std::lock_guard lock(mutex);
    if (std::exchange(is_given, true)) return;
    reply = std::move(r);
    given.notify_all();
  }
};

class OwnIncoming final : public Incoming {
 public:
  OwnIncoming(std::string_view method, Message request, std::string token, Deadline deadline, std::stop_token stop,
              std::shared_ptr<Answer> answer)
      : method_(method),
        request_(std::move(request)),
        token_(std::move(token)),
        deadline_(deadline),
        stop_(std::move(stop)),
        answer_(std::move(answer)) {}
  ~OwnIncoming() override { fail(Code::Internal, "the call was dropped without an answer", {}); }
  OwnIncoming(const OwnIncoming&) = delete;
  OwnIncoming& operator=(const OwnIncoming&) = delete;

  std::string_view method() const override { return method_; }
  const Message& request() const override { return request_; }
  std::string peer() const override { return "this process"; }
  std::string token() const override { return token_; }
  std::stop_token stop() const override { return stop_; }
  Deadline deadline() const override { return deadline_; }
  void answer(Message body) override { answer_->give({.body = std::move(body)}); }
  void fail(Code code, const std::string& message, const std::string& details) override {
    answer_->give({.code = code, .error = message, .details = details});
  }

 private:
  const std::string method_;
  const Message request_;
  const std::string token_;
  const Deadline deadline_;
  const std::stop_token stop_;
  const std::shared_ptr<Answer> answer_;
};

}  // namespace

std::optional<Reply> OwnServerCalls::call(std::string_view method, Message& request, const std::string& token,
                                          const CallOptions& options) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return std::nullopt;
    ++under_way_;
  }
  std::stop_source source;
  auto end = [&] { source.request_stop(); };
  auto answer = std::make_shared<Answer>();
  {
    std::stop_callback by_caller(options.stop, end), by_server(closing_.get_token(), end);
    handler_(
        std::make_shared<OwnIncoming>(method, std::move(request), token, options.deadline, source.get_token(), answer));
    std::unique_lock lock(answer->mutex);
    answer->given.wait(lock, [&] { return answer->is_given; });
  }
  std::lock_guard lock(mutex_);
  if (--under_way_ == 0) changed_.notify_all();
  return std::move(answer->reply);
}

void OwnServerCalls::close() {
  closing_.request_stop();
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_.wait(lock, [&] { return under_way_ == 0; });
}

}  // namespace weir::distributed

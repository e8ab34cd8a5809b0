#include "ops/data/background.h"

namespace weir::ops {

Background::Background(const IterateContext& creator)
    : pipeline_(creator.pipeline), with_creator_(creator.stop, Stop{this}) {
  control_.program = &token_;
  control_.stop = token_;
}

Background::~Background() { end(); }

void Background::start(std::function<void(const IterateContext&)> work) {
  threads_.emplace_back([this, work = std::move(work)] {
    const IterateContext context{pipeline_, control_, token_};
    work(context);
  });
}

void Background::stop() noexcept {
  source_.request_stop();
  std::lock_guard lock(mutex);
  changed.notify_all();
}

void Background::end() {
  stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace weir::ops

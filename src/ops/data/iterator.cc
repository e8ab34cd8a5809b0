#include "ops/data/iterator.h"

#include <algorithm>

#include "base/errors.h"
#include "io/varint.h"

namespace weir::ops {

namespace {
constexpr uint64_t kForm = 1;  // of saved states
}

struct Pass::Request {
  explicit Request(Receive r) : receive(std::move(r)) {}
  Receive receive;
  bool over = false;  // guarded by the pass's mutex: somebody has called receive, or is about to
  std::optional<std::stop_callback<std::function<void()>>> on_stop = {};
};

Pass::Pass(const std::shared_ptr<FunctionRunner>& runner, const DatasetPtr& dataset) : pipeline_(runner) {
  control_.program = &pipeline_.stop();
  control_.stop = pipeline_.stop();
  iterator_ = dataset->iterate({pipeline_, control_, pipeline_.stop()}, "");
}

Pass::Pass(const std::shared_ptr<FunctionRunner>& runner, const DatasetPtr& dataset, PassState state,
           const RunControl& control)
    : pipeline_(runner) {
  control_.program = &pipeline_.stop();
  control_.stop = pipeline_.stop();
  pipeline_.restore_seeds(std::move(state.seeds));
  iterator_ = dataset->iterate({pipeline_, control_, pipeline_.stop()}, "");
  given_ = iterator_->skip({pipeline_, control, pipeline_.stop()}, state.given);
  ended_ = given_ < state.given;
}

Pass::~Pass() {
  pipeline_.end();
  if (thread_.joinable()) thread_.join();
}

bool Pass::pull(const IterateContext& c, Element& out) {
  if (ended_) return false;
  c.check();
  try {
    ended_ = !iterator_->next(c, out);
  } catch (const Error& e) {
    // What fails is lost, unless it is only this run that has ended.
    if (e.code() != Code::Cancelled && e.code() != Code::DeadlineExceeded) ++given_;
    throw;
  }
  if (!ended_) ++given_;
  return !ended_;
}

PassState Pass::state() {
  // In this order: whoever pulls may take long, and needs no mutex_ meanwhile.
  std::lock_guard pulling(pulling_);
  std::lock_guard lock(mutex_);
  return {given_ - static_cast<int64_t>(left_.size()), pipeline_.saved_seeds()};
}

void Pass::next(const RunControl& control, Receive receive) {
  {
    std::unique_lock lock(mutex_);
    if (requests_.empty() && !left_.empty()) {
      Made made = std::move(left_.front());
      left_.pop_front();
      lock.unlock();
      receive(true, std::move(made.element), nullptr);
      return;
    }
    std::unique_lock idle(pulling_, std::try_to_lock);
    if (requests_.empty() && idle && (ended_ || pipeline_.stop().stop_requested() || iterator_->ready())) {
      lock.unlock();
      Element element;
      bool got = false;
      std::exception_ptr error;
      try {
        got = pull({pipeline_, control, pipeline_.stop()}, element);
      } catch (...) {
        error = std::current_exception();
      }
      idle.unlock();
      receive(got, std::move(element), error);
      return;
    }
  }
  // The callback may come at once, and the run, with what `control` points to, is over when the request is.
  auto request = std::make_shared<Request>(std::move(receive));
  request->on_stop.emplace(control.stop, [this, r = request.get()] { cancel(*r); });
  std::unique_lock lock(mutex_);
  if (request->over) return;
  if (pipeline_.stop().stop_requested()) {
    request->over = true;
    lock.unlock();
    request->receive(false, {}, std::make_exception_ptr(error(Code::Cancelled, "Iterator was cancelled")));
    return;
  }
  requests_.push_back(request);
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  asked_.notify_all();
}

void Pass::cancel(Request& request) {
  RequestPtr own;
  {
    std::lock_guard lock(mutex_);
    if (request.over) return;
    request.over = true;
    auto at =
        std::find_if(requests_.begin(), requests_.end(), [&](const RequestPtr& r) { return r.get() == &request; });
    if (at != requests_.end()) {
      own = *at;
      requests_.erase(at);
    }
  }
  request.receive(false, {}, std::make_exception_ptr(error(Code::Cancelled, "the wait for an element was cancelled")));
}

void Pass::serve() {
  const IterateContext context{pipeline_, control_, pipeline_.stop()};
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, pipeline_.stop(), [this] { return !requests_.empty(); });
    if (requests_.empty()) return;  // and the pipeline has ended
    const RequestPtr request = requests_.front();
    Made made;
    if (!left_.empty()) {
      made = std::move(left_.front());
      left_.pop_front();
    } else {
      lock.unlock();
      try {
        std::lock_guard pulling(pulling_);
        made.end = !pull(context, made.element);
      } catch (...) {
        made.error = std::current_exception();
      }
      lock.lock();
    }
    const bool mine = !std::exchange(request->over, true);
    if (!requests_.empty() && requests_.front() == request) requests_.pop_front();
    if (!mine) {
      if (!made.end && !made.error) left_.push_front(std::move(made));
      continue;
    }
    lock.unlock();
    request->receive(!made.end && !made.error, std::move(made.element), made.error);
    lock.lock();
  }
}

// A number for the form, how many elements were given, and the seeds by their places.
std::string PassState::encode() const {
  std::string bytes;
  io::put_varint(bytes, kForm);
  io::put_varint(bytes, static_cast<uint64_t>(given));
  io::put_varint(bytes, seeds.size());
  for (const auto& [place, pair] : seeds) {
    io::put_varint(bytes, place.size());
    bytes += place;
    io::put_varint(bytes, pair.first);
    io::put_varint(bytes, pair.second);
  }
  return bytes;
}

PassState PassState::decode(std::string_view bytes) {
  auto number = [&] {
    const auto value = io::take_varint(bytes);
    if (!value) throw invalid_argument("the state of the iterator is damaged");
    return *value;
  };
  if (number() != kForm) throw invalid_argument("the state of the iterator is of a form that is not known here");
  PassState state;
  const uint64_t given = number();
  if (given > INT64_MAX) throw invalid_argument("the state of the iterator is damaged");
  state.given = static_cast<int64_t>(given);
  for (uint64_t left = number(); left > 0; --left) {
    const uint64_t length = number();
    if (length > bytes.size()) throw invalid_argument("the state of the iterator is damaged");
    std::string place(bytes.substr(0, length));
    bytes.remove_prefix(length);
    const uint64_t first = number();
    state.seeds[place] = {first, number()};
  }
  return state;
}

IteratorResource::~IteratorResource() = default;

void IteratorResource::initialize(const DatasetPtr& dataset, const std::shared_ptr<FunctionRunner>& runner) {
  require_compatible(spec_, dataset->spec());
  auto pass = std::make_shared<Pass>(runner, dataset);
  {
    std::lock_guard lock(mutex_);
    std::swap(pass_, pass);
    dataset_ = dataset;
  }
  if (pass) pass->end();
}

void IteratorResource::initialize_once(std::function<void(IteratorResource&, const RunControl&)> first) {
  std::lock_guard lock(first_mutex_);
  if (!first_) first_ = std::move(first);
}

std::shared_ptr<Pass> IteratorResource::current(const RunControl& control, std::string_view what) {
  auto now = [this] {
    std::lock_guard lock(mutex_);
    return pass_;
  };
  std::shared_ptr<Pass> pass = now();
  if (!pass) {
    std::lock_guard lock(first_mutex_);
    pass = now();
    if (!pass && first_) first_(*this, control);
    pass = now();
  }
  if (pass) return pass;
  throw error(Code::FailedPrecondition,
              "{} failed because the iterator has not been initialized. Ensure that you have run the initializer "
              "operation for this iterator before {}.",
              what, what == "GetNext()" ? "getting the next element" : "saving or restoring it");
}

void IteratorResource::next(const RunControl& control, Pass::Receive receive) {
  // The pass stays until its receiver is done with it, also when the iterator is initialised anew meanwhile.
  const std::shared_ptr<Pass> pass = current(control, "GetNext()");
  pass->next(control, std::move(receive));
}

PassState IteratorResource::save(const RunControl& control) { return current(control, "Save()")->state(); }

void IteratorResource::restore(PassState state, const RunControl& control,
                               const std::shared_ptr<FunctionRunner>& runner) {
  current(control, "Restore()");
  DatasetPtr dataset;
  {
    std::lock_guard lock(mutex_);
    dataset = dataset_;
  }
  auto pass = std::make_shared<Pass>(runner, dataset, std::move(state), control);
  {
    std::lock_guard lock(mutex_);
    std::swap(pass_, pass);
  }
  pass->end();
}

void require_compatible(const ElementSpec& wanted, const ElementSpec& given) {
  if (wanted.types.size() != given.types.size()) {
    throw invalid_argument("Number of components does not match: expected {} types but got {}.", wanted.types.size(),
                           given.types.size());
  }
  for (size_t i = 0; i < wanted.types.size(); ++i) {
    if (wanted.types[i] != given.types[i]) {
      throw invalid_argument("Data type mismatch at component {}: expected {} but got {}.", i,
                             dtype_name(wanted.types[i]), dtype_name(given.types[i]));
    }
    if (i < wanted.shapes.size() && i < given.shapes.size() && !wanted.shapes[i].compatible(given.shapes[i])) {
      throw invalid_argument("Incompatible shapes at component {}: expected {} but got {}.", i, wanted.shapes[i].str(),
                             given.shapes[i].str());
    }
  }
}

void give_element(KernelContext& c, Element&& element) {
  const auto& wanted = c.node().attr<std::vector<DType>>("output_types");
  if (wanted.size() != element.size()) {
    throw invalid_argument("Number of components does not match: expected {} types but got {}.", wanted.size(),
                           element.size());
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != element[i].dtype()) {
      throw invalid_argument("Data type mismatch at component {}: expected {} but got {}.", i, dtype_name(wanted[i]),
                             dtype_name(element[i].dtype()));
    }
    c.set_output(static_cast<int>(i), std::move(element[i]));
  }
}

const RunControl& control_of(const KernelContext& c) {
  static const RunControl kNone;
  return c.control() ? *c.control() : kNone;
}

void for_each_element(const KernelContext& c, const std::shared_ptr<FunctionRunner>& runner, const Dataset& dataset,
                      FunctionRef<bool(const IterateContext&, Element&)> visit) {
  Pipeline pipeline(runner);
  const IterateContext context{pipeline, control_of(c), pipeline.stop()};
  const IteratorPtr iterator = dataset.iterate(context, "");
  Element element;
  while (iterator->next(context, element)) {
    context.check();
    if (!visit(context, element)) break;
  }
}

}  // namespace weir::ops

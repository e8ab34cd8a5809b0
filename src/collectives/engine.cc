#include "collectives/engine.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/errors.h"
#include "base/fork.h"
#include "collectives/scaling.h"

namespace weir::collectives {
namespace {

// The words that a rank tells in a round: whether it ends, how long the description of its new tensors is, and its
// marks.
constexpr size_t kEnds = 0, kNewBytes = 1, kMarks = 2;

bool same(const Key& a, const Key& b) {
  return a.name == b.name && a.kind == b.kind && a.dtype == b.dtype && a.shape == b.shape && a.combine == b.combine &&
         a.scale == b.scale && a.root == b.root;
}

// Numbers and texts, one behind the other.
class Writer {
 public:
  template <class T>
  void number(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void key(const Key& key) {
    number(static_cast<uint32_t>(key.name.size()));
    text_ += key.name;
    number(key.kind);
    number(key.dtype);
    number(key.combine);
    number(key.scale);
    number(key.root);
    number(static_cast<uint32_t>(key.shape.rank()));
    for (int64_t size : key.shape.dims()) number(size);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool done() const { return text_.empty(); }
  Key key() {
    Key key;
    key.name = bytes(number<uint32_t>());
    key.kind = number<Kind>();
    key.dtype = number<DType>();
    key.combine = number<Combine>();
    key.scale = number<double>();
    key.root = number<int>();
    const auto rank = number<uint32_t>();
    std::vector<int64_t> dims;
    for (uint32_t i = 0; i < rank; ++i) dims.push_back(number<int64_t>());
    key.shape = Shape(dims);
    return key;
  }

 private:
  std::string_view bytes(size_t count) {
    if (count > text_.size()) throw error(Code::DataLoss, "another rank's description of a tensor is cut off");
    const std::string_view part = text_.substr(0, count);
    text_.remove_prefix(count);
    return part;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text_;
};

std::string_view verb(Kind kind) {
  return kind == Kind::Reduce ? "allreduce" : kind == Kind::Gather ? "allgather" : "broadcast";
}

}  // namespace

std::string Key::describe() const {
  std::string text = fmt::format("{} of {} {}", verb(kind), dtype_name(dtype), shape.str());
  if (kind == Kind::Broadcast) text += fmt::format(" from rank {}", root);
  if (kind == Kind::Reduce && (combine != Combine::Sum || scale != 1)) {
    static constexpr const char* kNames[] = {"sum", "minimum", "maximum", "product"};
    text += fmt::format(" by {}", kNames[static_cast<size_t>(combine)]);
    if (scale != 1) text += fmt::format(" times {}", scale);
  }
  return text;
}

struct Engine::Request {
  Key key;
  Tensor input;
  Done done;
  int id = -1;
  std::unique_ptr<std::stop_callback<std::function<void()>>> on_stop;
};

struct Engine::Entry {
  Key key;
  RequestPtr own = {};  // what this rank has handed in; there when the rank has told the others of it
  Tensor result = {};   // of the last time: used again when nobody holds it any more
};

Engine::Engine(const Open& open, const EngineOptions& options) : options_(options), forks_(fork_count()) {
  std::promise<void> opened;
  std::future<void> ready = opened.get_future();
  thread_ = std::thread([this, &open, &opened] { serve(open, opened); });
  try {
    ready.get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

Engine::~Engine() {
  if (forks_ != fork_count()) {  // the thread stayed in the process that this one was made from
    thread_.detach();
    (void)transport_.release();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Engine::serve(const Open& open, std::promise<void>& opened) {
  try {
    transport_ = open();
    rank_ = transport_->rank();
    size_ = transport_->size();
    local_rank_ = transport_->local_rank();
    local_size_ = transport_->local_size();
    transport_name_ = transport_->name();
    marks_.resize(static_cast<size_t>(size_));
  } catch (...) {
    opened.set_exception(std::current_exception());
    return;
  }
  opened.set_value();
  try {
    while (!ended_) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ending_ || !pending_.empty(); });
        fresh_ = false;
      }
      if (round()) continue;
      // Others are not ready for what is here: they will have handed in something else soon.
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, options_.cycle, [this] { return fresh_ || ending_; });
    }
  } catch (const Error& failure) {
    fail_all(std::make_exception_ptr(failure));
  } catch (const std::exception& failure) {
    fail_all(std::make_exception_ptr(error(Code::Unavailable, "rank {} of {} has lost the others ({}): {}", rank_,
                                           size_, transport_name_, failure.what())));
  }
  transport_.reset();
}

bool Engine::round() {
  std::vector<uint64_t> words(kMarks + (table_.size() + 63) / 64, 0);
  const std::string own = mark_own(words);
  words[kNewBytes] = own.size();
  std::vector<uint64_t> all(words.size() * static_cast<size_t>(size_));
  transport_->all_gather(words.data(), all.data(), words.size() * sizeof(uint64_t));

  std::vector<size_t> new_bytes;
  int ends = -1;
  for (int r = 0; r < size_; ++r) {
    const uint64_t* told = all.data() + words.size() * static_cast<size_t>(r);
    if (told[kEnds] && ends < 0) ends = r;
    new_bytes.push_back(told[kNewBytes]);
    marks_[static_cast<size_t>(r)].assign(told + kMarks, told + words.size());
  }
  if (std::ranges::any_of(new_bytes, [](size_t bytes) { return bytes > 0; })) learn(own, new_bytes);
  const std::vector<int> ready = agreed();
  perform(ready);
  const bool refused = refuse_contradictions();
  {
    std::lock_guard lock(mutex_);
    ++counts_.rounds;
  }
  if (ends >= 0) {
    ended_ = true;
    fail_all(std::make_exception_ptr(error(Code::Aborted, "rank {} of {} has ended", ends, size_)));
  }
  return ended_ || refused || !ready.empty();
}

// Sets the bits of what this rank has; gives the description of what has no bit yet.
std::string Engine::mark_own(std::vector<uint64_t>& words) {
  Writer descriptions;
  for (const RequestPtr& request : told_) {
    if (request->id >= 0) table_[static_cast<size_t>(request->id)].own = nullptr;
  }
  told_.clear();
  std::lock_guard lock(mutex_);
  words[kEnds] = ending_;
  for (auto& [name, request] : pending_) {
    told_.push_back(request);
    if (request->id < 0) request->id = find(request->key);
    if (request->id < 0) {
      descriptions.key(request->key);
      continue;
    }
    const auto id = static_cast<size_t>(request->id);
    table_[id].own = request;
    words[kMarks + id / 64] |= uint64_t{1} << (id % 64);
  }
  return descriptions.take();
}

int Engine::find(const Key& key) const {
  auto found = by_name_.find(key.name);
  if (found == by_name_.end()) return -1;
  for (int id : found->second) {
    if (same(table_[static_cast<size_t>(id)].key, key)) return id;
  }
  return -1;
}

// Enters what any rank has described, in the order of the ranks: all ranks come to the same table.
void Engine::learn(const std::string& own, std::span<const size_t> bytes) {
  size_t total = 0;
  for (size_t part : bytes) total += part;
  std::string all(total, '\0');
  transport_->all_gather_varied(own.data(), all.data(), bytes);
  size_t at = 0;
  for (int r = 0; r < size_; ++r) {
    learn_from(r, std::string_view(all).substr(at, bytes[static_cast<size_t>(r)]));
    at += bytes[static_cast<size_t>(r)];
  }
  for (auto& marks : marks_) marks.resize((table_.size() + 63) / 64, 0);
  for (const RequestPtr& request : told_) {
    if (request->id >= 0) continue;
    request->id = find(request->key);
    table_[static_cast<size_t>(request->id)].own = request;
  }
}

void Engine::learn_from(int rank, std::string_view text) {
  for (Reader reader(text); !reader.done();) {
    Key key = reader.key();
    int id = find(key);
    if (id < 0) {
      id = static_cast<int>(table_.size());
      by_name_[key.name].push_back(id);
      table_.push_back({std::move(key)});
    }
    auto& marks = marks_[static_cast<size_t>(rank)];
    marks.resize((table_.size() + 63) / 64, 0);
    marks[static_cast<size_t>(id) / 64] |= uint64_t{1} << (id % 64);
  }
}

bool Engine::has(int rank, int id) const {
  return (marks_[static_cast<size_t>(rank)][static_cast<size_t>(id) / 64] >> (id % 64)) & 1;
}

std::vector<int> Engine::agreed() const {
  std::vector<int> ready;
  for (size_t word = 0; word < marks_[0].size(); ++word) {
    uint64_t common = ~uint64_t{0};
    for (const auto& marks : marks_) common &= marks[word];
    for (; common; common &= common - 1) ready.push_back(static_cast<int>(word * 64) + std::countr_zero(common));
  }
  return ready;
}

// Ranks that have the same name in different shapes would wait for ever.
bool Engine::refuse_contradictions() {
  bool any = false;
  for (const auto& [name, ids] : by_name_) {
    if (ids.size() < 2) continue;
    std::string story;
    bool all = true, common = false;
    std::vector<int> of_rank;
    for (int r = 0; r < size_; ++r) {
      auto mine = std::ranges::find_if(ids, [&](int id) { return has(r, id); });
      if (mine == ids.end()) {
        all = false;
        break;
      }
      of_rank.push_back(*mine);
      story +=
          fmt::format("{}rank {} has an {}", r == 0 ? "" : ", ", r, table_[static_cast<size_t>(*mine)].key.describe());
    }
    common = all && std::ranges::all_of(of_rank, [&](int id) { return id == of_rank[0]; });
    if (!all || common) continue;
    any = true;
    const int own = of_rank[static_cast<size_t>(rank_)];
    finish(table_[static_cast<size_t>(own)].own,
           std::make_exception_ptr(invalid_argument("the ranks disagree on '{}': {}", name, story)));
  }
  return any;
}

void Engine::perform(const std::vector<int>& ready) {
  {  // before anybody is given a result, and asks
    std::lock_guard lock(mutex_);
    counts_.tensors += static_cast<int64_t>(ready.size());
  }
  // What can be reduced together: of one type, by one function and with one factor.
  std::vector<std::vector<int>> kinds;
  for (int id : ready) {
    const Key& key = table_[static_cast<size_t>(id)].key;
    if (key.kind == Kind::Gather) {
      gather(id);
    } else if (key.kind == Kind::Broadcast) {
      broadcast(id);
    } else {
      auto fits = [&](const std::vector<int>& others) {
        const Key& other = table_[static_cast<size_t>(others[0])].key;
        return other.dtype == key.dtype && other.combine == key.combine && other.scale == key.scale;
      };
      auto kind = std::ranges::find_if(kinds, fits);
      if (kind == kinds.end()) kind = kinds.insert(kinds.end(), std::vector<int>());
      kind->push_back(id);
    }
  }
  for (const std::vector<int>& ids : kinds) reduce(ids);
}

void Engine::count_call() {
  std::lock_guard lock(mutex_);
  ++counts_.calls;
}

void Engine::reduce(std::span<const int> ids) {
  while (!ids.empty()) {
    size_t count = 0, bytes = 0;
    while (count < ids.size()) {
      const Key& key = table_[static_cast<size_t>(ids[count])].key;
      const size_t more = static_cast<size_t>(key.shape.elements()) * dtype_size(key.dtype);
      if (count > 0 && bytes + more > options_.fusion_bytes) break;
      bytes += more;
      ++count;
    }
    count_call();
    const bool alone = count == 1 && is_transported(table_[static_cast<size_t>(ids[0])].key.dtype);
    if (alone) {
      reduce_one(ids[0]);
    } else {
      reduce_together(ids.first(count));
    }
    ids = ids.subspan(count);
  }
}

// Without a copy: from the tensor that was handed in to the one that is given back.
void Engine::reduce_one(int id) {
  const Key key = table_[static_cast<size_t>(id)].key;
  const RequestPtr own = table_[static_cast<size_t>(id)].own;
  Tensor result = result_for(id, key.shape);
  transport_->all_reduce(own->input.raw(), result.mutable_raw(), static_cast<size_t>(key.shape.elements()),
                         element_of(key.dtype), key.combine);
  if (key.scale != 1) scale(key.dtype, result.mutable_raw(), static_cast<size_t>(key.shape.elements()), key.scale);
  finish(own, nullptr, std::move(result));
}

void Engine::reduce_together(std::span<const int> ids) {
  const DType dtype = table_[static_cast<size_t>(ids[0])].key.dtype;
  const Combine combine = table_[static_cast<size_t>(ids[0])].key.combine;
  const double factor = table_[static_cast<size_t>(ids[0])].key.scale;
  const DType wire = is_transported(dtype) ? dtype : DType::Float32;
  size_t elements = 0;
  for (int id : ids) elements += static_cast<size_t>(table_[static_cast<size_t>(id)].key.shape.elements());
  if (!fused_.valid() || fused_.bytes() < elements * dtype_size(wire)) {
    fused_ = Tensor();
    fused_ = Tensor(DType::UInt8, Shape{static_cast<int64_t>(elements * dtype_size(wire))});
  }
  auto* at = static_cast<uint8_t*>(fused_.mutable_raw());
  for (int id : ids) {
    const Entry& entry = table_[static_cast<size_t>(id)];
    const auto count = static_cast<size_t>(entry.key.shape.elements());
    to_wire(dtype, entry.own->input.raw(), at, count);
    at += count * dtype_size(wire);
  }
  transport_->all_reduce(fused_.raw(), fused_.mutable_raw(), elements, element_of(wire), combine);
  at = static_cast<uint8_t*>(fused_.mutable_raw());
  for (int id : ids) {
    const Entry& entry = table_[static_cast<size_t>(id)];
    const auto count = static_cast<size_t>(entry.key.shape.elements());
    Tensor result = result_for(id, entry.key.shape);
    if (factor != 1) scale(wire, at, count, factor);
    from_wire(dtype, at, result.mutable_raw(), count);
    finish(entry.own, nullptr, std::move(result));
    at += count * dtype_size(wire);
  }
}

void Engine::gather(int id) {
  const Key key = table_[static_cast<size_t>(id)].key;
  const RequestPtr own = table_[static_cast<size_t>(id)].own;
  const int64_t rows = own->input.shape().dim(0);
  std::vector<int64_t> all_rows(static_cast<size_t>(size_));
  transport_->all_gather(&rows, all_rows.data(), sizeof rows);
  size_t row_bytes = dtype_size(key.dtype);
  for (int i = 1; i < key.shape.rank(); ++i) row_bytes *= static_cast<size_t>(key.shape.dim(i));
  std::vector<int64_t> dims(key.shape.dims().begin(), key.shape.dims().end());
  dims[0] = 0;
  std::vector<size_t> bytes;
  for (int64_t count : all_rows) {
    dims[0] += count;
    bytes.push_back(static_cast<size_t>(count) * row_bytes);
  }
  Tensor result = result_for(id, Shape(dims));
  transport_->all_gather_varied(own->input.raw(), result.mutable_raw(), bytes);
  count_call();
  finish(own, nullptr, std::move(result));
}

void Engine::broadcast(int id) {
  const Key key = table_[static_cast<size_t>(id)].key;
  const RequestPtr own = table_[static_cast<size_t>(id)].own;
  Tensor value = rank_ == key.root ? own->input : result_for(id, key.shape);
  transport_->broadcast(value.mutable_raw(), value.bytes(), key.root);  // the root's is read only
  count_call();
  finish(own, nullptr, std::move(value));
}

// The result of the step before, when nobody has it any more: fresh memory of many megabytes is slow to touch.
Tensor Engine::result_for(int id, const Shape& shape) {
  Entry& entry = table_[static_cast<size_t>(id)];
  const bool again =
      entry.result.valid() && entry.result.shape() == shape && entry.result.buffer() && entry.result.buffer()->unique();
  if (!again) entry.result = Tensor(entry.key.dtype, shape);
  return entry.result;
}

void Engine::finish(const RequestPtr& request, std::exception_ptr error, Tensor result) {
  Done done;
  {
    std::lock_guard lock(mutex_);
    done = std::exchange(request->done, nullptr);
    auto found = pending_.find(request->key.name);
    if (found != pending_.end() && found->second == request) pending_.erase(found);
  }
  if (done) done(std::move(error), std::move(result));
}

void Engine::submit(Key key, Tensor input, std::stop_token stop, Done done) {
  auto request = std::make_shared<Request>();
  if (key.root < 0 || key.root >= size_) {
    throw invalid_argument("there is no rank {} among {}, for the broadcast of '{}'", key.root, size_, key.name);
  }
  request->key = std::move(key);
  request->input = std::move(input);
  request->done = std::move(done);
  {
    std::lock_guard lock(mutex_);
    if (failed_) std::rethrow_exception(failed_);
    if (ending_) throw error(Code::Aborted, "collectives have ended in this process (rank {})", rank_);
    if (!pending_.emplace(request->key.name, request).second) {
      throw invalid_argument("a tensor named '{}' is under way: names must be different", request->key.name);
    }
    fresh_ = true;
  }
  if (stop.stop_possible()) {
    request->on_stop = std::make_unique<std::stop_callback<std::function<void()>>>(
        std::move(stop), [this, weak = std::weak_ptr(request)] {
          RequestPtr cancelled = weak.lock();
          if (!cancelled) return;
          finish(cancelled, std::make_exception_ptr(error(Code::Cancelled, "the {} of '{}' was cancelled",
                                                          verb(cancelled->key.kind), cancelled->key.name)));
        });
  }
  changed_.notify_all();
}

void Engine::fail_all(const std::exception_ptr& error) {
  std::vector<RequestPtr> all = told_;
  {
    std::lock_guard lock(mutex_);
    failed_ = error;
    for (auto& [name, request] : pending_) all.push_back(request);
  }
  for (const RequestPtr& request : all) finish(request, error);
}

Tensor Engine::run(Key key, const Tensor& input) {
  std::promise<Tensor> result;
  submit(std::move(key), input, {}, [&result](std::exception_ptr error, Tensor value) {
    if (error) {
      result.set_exception(std::move(error));
    } else {
      result.set_value(std::move(value));
    }
  });
  return result.get_future().get();
}

Engine::Counts Engine::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace weir::collectives

#include "runtime/plan_cache.h"

#include <algorithm>
#include <cstdio>

#include "base/denormals.h"
#include "base/errors.h"
#include "graph/graph_impl.h"

namespace weir {
namespace {

constexpr size_t kMix = 0x9e3779b97f4a7c15ull;

size_t hash_of(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets) {
  size_t h = fetches.size() * 31 + feeds.size();
  auto mix = [&](const void* node, int index) {
    h = (h ^ (reinterpret_cast<size_t>(node) + static_cast<size_t>(index))) * kMix;
  };
  for (const Output& fetch : fetches) mix(fetch.node(), fetch.index());
  for (const Feed& feed : feeds) mix(feed.output.node(), feed.output.index());
  for (const Operation& target : targets) mix(target.node(), -1);
  return h;
}

size_t hash_of(std::span<const Tensor* const> feeds) {
  size_t h = feeds.size();
  for (const Tensor* feed : feeds) {
    h = (h ^ static_cast<size_t>(feed->shape().rank())) * kMix;
    for (int64_t dim : feed->shape().dims()) h = (h ^ static_cast<size_t>(dim)) * kMix;
  }
  return h ^ h >> 32;
}

// What dropping a fit frees, roughly: of a plan's first fit, the plan.
size_t bytes_of(const Fit& fit) { return fit.bytes() + (fit.owner ? 0 : fit.plan->bytes()); }

}  // namespace

bool Signature::matches(std::span<const Output> other_fetches, std::span<const Feed> other_feeds,
                        std::span<const Operation> other_targets) const {
  return std::equal(fetches.begin(), fetches.end(), other_fetches.begin(), other_fetches.end()) &&
         std::equal(targets.begin(), targets.end(), other_targets.begin(), other_targets.end()) &&
         std::equal(feeds.begin(), feeds.end(), other_feeds.begin(), other_feeds.end(),
                    [](const Output& a, const Feed& b) { return a == b.output; });
}

Signature* PlanCache::find(std::span<const Output> fetches, std::span<const Feed> feeds,
                           std::span<const Operation> targets) {
  Signature* recent = last_.load();
  if (recent && recent->matches(fetches, feeds, targets)) return recent;
  const size_t hash = hash_of(fetches, feeds, targets);
  std::lock_guard lock(mutex_);
  auto [begin, end] = signatures_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (!it->second->matches(fetches, feeds, targets)) continue;
    last_.store(it->second.get());
    return it->second.get();
  }
  return nullptr;
}

Signature& PlanCache::add(std::unique_ptr<Signature> signature) {
  std::vector<Feed> feeds;
  for (const Output& feed : signature->feeds) feeds.push_back({feed, {}});
  const size_t hash = hash_of(signature->fetches, feeds, signature->targets);
  std::lock_guard lock(mutex_);
  warn_of_new_nodes(*signature);
  auto [begin, end] = signatures_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {  // another thread may have been quicker
    if (it->second->matches(signature->fetches, feeds, signature->targets)) return *it->second;
  }
  Signature& added = *signatures_.emplace(hash, std::move(signature))->second;
  last_.store(&added);
  return added;
}

void PlanCache::enter(Signature& signature) {
  std::lock_guard lock(mutex_);
  owned_elsewhere_.push_back(&signature);
}

void PlanCache::leave(Signature& signature) {
  std::lock_guard lock(mutex_);
  std::erase(owned_elsewhere_, &signature);
  for (const auto& [hash, entry] : signature.fits_) bytes_ -= bytes_of(*entry.fit);
  if (signature.generic_) bytes_ -= bytes_of(*signature.generic_);
}

size_t PlanCache::signatures() const {
  std::lock_guard lock(mutex_);
  return signatures_.size() + owned_elsewhere_.size();
}

std::shared_ptr<const Fit> PlanCache::plan(Signature& s, std::span<const Tensor* const> feeds) {
  std::unique_lock lock(s.mutex_);
  auto use = [&](Signature::Entry& entry) {
    entry.used = clock_.load(std::memory_order_relaxed);
    s.last_ = &entry;
    return entry.fit;
  };
  if (s.last_ && s.last_->fit->accepts(feeds)) return use(*s.last_);
  const size_t hash = hash_of(feeds);
  for (;;) {
    auto [begin, end] = s.fits_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (it->second.fit->accepts(feeds)) return use(it->second);
    }
    if (s.generic_) {
      const std::vector<Shape>& declared = s.generic_->plan->declared();
      bool fits = true;
      for (size_t i = 0; i < feeds.size(); ++i) fits = fits && feeds[i]->shape().compatible(declared[i]);
      if (fits) return s.generic_;
    }
    if (std::find(s.making_.begin(), s.making_.end(), hash) == s.making_.end()) break;
    s.made_.wait(lock);
  }
  s.making_.push_back(hash);
  const std::vector<std::shared_ptr<Plan>> plans = s.plans_;
  lock.unlock();
  Made made;
  try {
    made = make(s, feeds, plans);
  } catch (...) {
    lock.lock();
    s.making_.erase(std::find(s.making_.begin(), s.making_.end(), hash));
    s.made_.notify_all();
    throw;
  }
  return enter(s, hash, std::move(made));
}

PlanCache::Made PlanCache::make(const Signature& s, std::span<const Tensor* const> feeds,
                                const std::vector<std::shared_ptr<Plan>>& plans) const {
  DenormalScope denormals(kFlushDenormals);  // what is worked out ahead is worked out as in a run
  std::vector<const Shape*> shapes;
  std::vector<FeedSpec> specs;
  for (const Tensor* feed : feeds) {
    shapes.push_back(&feed->shape());
    specs.push_back({feed->dtype(), feed->shape()});
  }
  const bool full = plans.size() >= limits_.plans;
  for (const auto& plan : plans) {
    if (std::shared_ptr<const Fit> fit = Plan::fit(plan, shapes, full)) return {std::move(fit)};
  }
  // The exact plan also says what is wrong with the feeds.
  std::shared_ptr<const Fit> exact = make_plan(s, specs);
  if (!full) return {std::move(exact), true};
  for (size_t i = 0; i < specs.size(); ++i) specs[i].shape = exact->plan->declared()[i];
  return {make_plan(s, specs), true, true};
}

std::shared_ptr<const Fit> PlanCache::make_plan(const Signature& s, std::span<const FeedSpec> specs) const {
  auto plan = std::make_shared<Plan>(PlanRequest{s.fetches, s.feeds, specs, s.targets, s.body}, environment_);
  return {plan, &plan->first_fit()};
}

std::shared_ptr<const Fit> PlanCache::enter(Signature& s, size_t hash, Made made) {
  bytes_ += bytes_of(*made.fit);
  const uint64_t now = ++clock_;
  {
    std::lock_guard lock(s.mutex_);
    s.making_.erase(std::find(s.making_.begin(), s.making_.end(), hash));
    if (made.is_generic) {
      s.generic_ = made.fit;
    } else {
      s.last_ = &s.fits_.emplace(hash, Signature::Entry{made.fit, now})->second;
      // Pointer and count in one: the plan lives as long as one of its fits.
      if (made.is_new) s.plans_.insert(s.plans_.begin(), std::shared_ptr<Plan>(made.fit, made.fit->plan));
    }
    s.made_.notify_all();
  }
  if (bytes_ > limits_.bytes) shrink();
  return made.fit;
}

// Drops plans, those that were used longest ago first, until a quarter of the room is free.
void PlanCache::shrink() {
  std::lock_guard lock(mutex_);
  struct Candidate {
    uint64_t used;
    Signature* signature;
    const Fit* fit;
  };
  std::vector<Candidate> candidates;
  std::vector<Signature*> all = owned_elsewhere_;
  for (const auto& entry : signatures_) all.push_back(entry.second.get());
  for (Signature* s : all) {
    std::lock_guard signature_lock(s->mutex_);
    for (const auto& [hash, entry] : s->fits_) candidates.push_back({entry.used, s, entry.fit.get()});
  }
  std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  for (const Candidate& candidate : candidates) {
    if (bytes_ <= limits_.bytes - limits_.bytes / 4 || candidate.used == clock_) break;
    std::lock_guard signature_lock(candidate.signature->mutex_);
    drop(*candidate.signature, candidate.fit);
  }
  for (auto it = signatures_.begin(); it != signatures_.end();) {
    Signature& s = *it->second;
    std::unique_lock signature_lock(s.mutex_);
    const bool empty = s.fits_.empty() && !s.generic_ && s.making_.empty();
    signature_lock.unlock();
    if (!empty) {
      ++it;
      continue;
    }
    if (last_.load() == &s) last_.store(nullptr);
    gone_.push_back(std::move(it->second));
    it = signatures_.erase(it);
  }
  // Nobody but this thread is in a run that could have found one of them.
  if (users_.count() <= 1) gone_.clear();
}

void PlanCache::clear() {
  std::lock_guard lock(mutex_);
  std::vector<Signature*> all = owned_elsewhere_;
  for (const auto& entry : signatures_) all.push_back(entry.second.get());
  for (Signature* s : all) {
    std::lock_guard signature_lock(s->mutex_);
    s->last_ = nullptr;
    s->fits_.clear();
    s->plans_.clear();
    s->generic_.reset();
  }
  bytes_ = 0;
}

void PlanCache::drop(Signature& s, const Fit* fit) {
  auto it = std::find_if(s.fits_.begin(), s.fits_.end(), [&](const auto& e) { return e.second.fit.get() == fit; });
  if (it == s.fits_.end()) return;
  bytes_ -= bytes_of(*fit);
  if (s.last_ == &it->second) s.last_ = nullptr;
  if (!fit->owner) std::erase_if(s.plans_, [&](const auto& plan) { return plan.get() == fit->plan; });
  s.fits_.erase(it);
}

// A program that makes nodes between its runs grows for ever, and so slowly that nobody notices why.
void PlanCache::warn_of_new_nodes(const Signature& s) {
  const Node* node = !s.fetches.empty() ? s.fetches[0].node() : !s.targets.empty() ? s.targets[0].node() : nullptr;
  if (!node || warned_) return;
  size_t nodes;
  {
    std::lock_guard lock(node->graph->impl().storage.mutex);
    nodes = node->graph->impl().storage.nodes.size();
  }
  new_nodes_ = nodes_before_ > 0 && static_cast<size_t>(node->id) >= nodes_before_ ? new_nodes_ + 1 : 0;
  nodes_before_ = nodes;
  if (new_nodes_ < limits_.new_nodes) return;
  warned_ = true;
  const std::string line = node->line.file.empty() ? "" : fmt::format(" ({}:{})", node->line.file, node->line.line);
  std::fputs(
      fmt::format("weir: {} '{}'{} is the {}th new node in a row that a run asks for: the program makes nodes in "
                  "its loop, and each costs memory and a plan of its own. Make them once, before the loop.\n",
                  node->op->name, node->name, line, new_nodes_)
          .c_str(),
      stderr);
}

}  // namespace weir

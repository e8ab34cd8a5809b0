#pragma once

#include "ops/data/iterator.h"

namespace weir::ops {

// Deals the elements of a data set out to several devices by turns: element i goes to shard i modulo their number.
// Thread-safe.
class MultiDeviceIterator final : public Resource {
 public:
  MultiDeviceIterator(std::string container, std::string name, ElementSpec spec, size_t shards)
      : container_(std::move(container)), name_(std::move(name)), spec_(std::move(spec)), shards_(shards) {}

  std::string describe() const override { return "multi-device iterator '" + name_ + "'"; }
  const ElementSpec& spec() const { return spec_; }
  std::string handle() const { return container_ + "\n" + name_; }

  // Begins at the first element. At most `max_buffered` elements wait for each shard. Gives the number of this
  // beginning.
  int64_t initialize(const DatasetPtr& dataset, const std::shared_ptr<FunctionRunner>& runner, int64_t max_buffered);
  // The next element of a shard; false at the end. Waits while another shard has more elements waiting than it may.
  // Throws InvalidArgument when the iterator has begun anew since `incarnation`, and for shards that there are not.
  bool next(const RunControl& control, int32_t shard, int64_t incarnation, Element& out);

 private:
  // One beginning: what was pulled and not asked for yet.
  struct Deal {
    Deal(const std::shared_ptr<FunctionRunner>& runner, const DatasetPtr& dataset, size_t shards, size_t max)
        : pass(runner, dataset), waiting(shards), max_buffered(max) {}
    Pass pass;
    std::mutex mutex;
    std::condition_variable_any changed;
    // Guarded by mutex:
    std::vector<std::deque<Made>> waiting;
    size_t turn = 0;
    bool pulling = false, ended = false;
    const size_t max_buffered;
  };

  static void pull(Deal& deal, const RunControl& control, std::unique_lock<std::mutex>& lock);

  const std::string container_, name_;
  const ElementSpec spec_;
  const size_t shards_;
  std::mutex mutex_;
  std::shared_ptr<Deal> deal_;  // guarded by mutex_
  int64_t incarnation_ = 0;     // guarded by mutex_
};

}  // namespace weir::ops

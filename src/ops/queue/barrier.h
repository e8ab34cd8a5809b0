#pragma once

#include <limits>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/queue/queue.h"

namespace weir::ops {

// Values that come in parts, under keys: a tuple whose last component has come is complete and can be taken, those
// whose first component came first before others. Thread-safe. Errors and their words are TensorFlow's.
class Barrier final : public Resource {
 public:
  struct Options {
    std::string name = {};
    std::vector<DType> types = {};
    std::vector<Shape> shapes = {};
  };
  explicit Barrier(Options options);

  std::string describe() const override;
  const Options& options() const { return options_; }
  void require_same(const Options& other) const;

  // Gives each key its row of `values` as that component.
  void insert_many(const Tensor& keys, int64_t component, const Tensor& values);
  // Takes so many complete tuples, as the outputs of `c`: the number of the insertion that made them known, the key,
  // the components.
  void take_many(int64_t count, bool allow_small_batch, KernelContext& c, Completion done);
  // Takes no further keys; those that are known may be completed, unless that is cancelled too.
  void close(bool cancel_pending_enqueues);
  int64_t ready_size() const { return ready_->size(); }
  int64_t incomplete_size() const;

 private:
  void insert(const std::string& key, int64_t component, Tensor value, int64_t row, bool& is_new);

  const Options options_;
  const ResourcePtr<Queue> ready_;
  mutable std::mutex mutex_;
  // All guarded by mutex_:
  struct Incomplete {
    int64_t index = 0;
    std::vector<Tensor> components = {};  // invalid: has not come
  };
  std::unordered_map<std::string, Incomplete> incomplete_;
  int64_t next_index_ = std::numeric_limits<int64_t>::min();
  bool closed_ = false, cancelled_ = false;
};

}  // namespace weir::ops

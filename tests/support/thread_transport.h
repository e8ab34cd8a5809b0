#pragma once

#include <algorithm>
#include <barrier>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "collectives/transport.h"

namespace weir::testing {

// Ranks that are threads of one process, for tests: what they exchange lies in memory that all see. `kill()` makes
// every call of every rank fail from then on, as if a process were lost.
class ThreadHub {
 public:
  explicit ThreadHub(int size) : size_(size), barrier_(size), from_(static_cast<size_t>(size)) {}

  std::unique_ptr<collectives::Transport> join(int rank);
  void kill() { killed_ = true; }

 private:
  class Member;
  // All have come; what they point to stays until the second call.
  void meet(int rank, const void* mine) {
    from_[static_cast<size_t>(rank)] = mine;
    barrier_.arrive_and_wait();
  }
  void part() {
    barrier_.arrive_and_wait();
    if (killed_) throw std::runtime_error("a rank was killed");
  }

  const int size_;
  std::barrier<> barrier_;
  std::vector<const void*> from_;
  std::atomic<bool> killed_ = false;
};

class ThreadHub::Member final : public collectives::Transport {
 public:
  Member(ThreadHub& hub, int rank) : hub_(hub), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return hub_.size_; }
  int local_rank() const override { return rank_; }
  int local_size() const override { return hub_.size_; }
  const char* name() const override { return "threads"; }

  void all_gather(const void* mine, void* all, size_t bytes) override {
    all_gather_varied(mine, all, std::vector<size_t>(static_cast<size_t>(size()), bytes));
  }
  void all_gather_varied(const void* mine, void* all, std::span<const size_t> bytes) override {
    hub_.meet(rank_, mine);
    char* at = static_cast<char*>(all);
    for (size_t r = 0; r < bytes.size(); ++r) {
      if (bytes[r] > 0) std::memcpy(at, hub_.from_[r], bytes[r]);
      at += bytes[r];
    }
    hub_.part();
  }
  void all_reduce(const void* in, void* out, size_t count, collectives::Element element,
                  collectives::Combine combine) override {
    using collectives::Element;
    if (element == Element::Float32) return reduce<float>(in, out, count, combine);
    if (element == Element::Float64) return reduce<double>(in, out, count, combine);
    if (element == Element::Int32) return reduce<int32_t>(in, out, count, combine);
    if (element == Element::Int64) return reduce<int64_t>(in, out, count, combine);
    throw std::invalid_argument("no such element in this test");
  }
  void broadcast(void* data, size_t bytes, int root) override {
    hub_.meet(rank_, data);
    if (rank_ != root && bytes > 0) std::memcpy(data, hub_.from_[static_cast<size_t>(root)], bytes);
    hub_.part();
  }

 private:
  template <class T>
  void reduce(const void* in, void* out, size_t count, collectives::Combine combine) {
    hub_.meet(rank_, in);
    std::vector<T> sum(static_cast<const T*>(hub_.from_[0]), static_cast<const T*>(hub_.from_[0]) + count);
    for (size_t r = 1; r < hub_.from_.size(); ++r) {
      const T* x = static_cast<const T*>(hub_.from_[r]);
      for (size_t i = 0; i < count; ++i) {
        switch (combine) {
          case collectives::Combine::Sum:
            sum[i] += x[i];
            break;
          case collectives::Combine::Min:
            sum[i] = std::min(sum[i], x[i]);
            break;
          case collectives::Combine::Max:
            sum[i] = std::max(sum[i], x[i]);
            break;
          case collectives::Combine::Product:
            sum[i] *= x[i];
        }
      }
    }
    hub_.part();  // nobody writes over what another still reads
    std::copy(sum.begin(), sum.end(), static_cast<T*>(out));
  }

  ThreadHub& hub_;
  const int rank_;
};

inline std::unique_ptr<collectives::Transport> ThreadHub::join(int rank) {
  return std::make_unique<Member>(*this, rank);
}

}  // namespace weir::testing

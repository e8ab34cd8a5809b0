#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <random>
#include <vector>

namespace weir::cpu {

// Of exactly the promised size, so that the address sanitizer sees what goes beyond it.
class Scratch {
 public:
  explicit Scratch(size_t bytes) : data_(::operator new(std::max<size_t>(bytes, 1), std::align_val_t(64))) {}
  ~Scratch() { ::operator delete(data_, std::align_val_t(64)); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  void* data_;
};

// Between -1 and 1; none for a negative count.
template <class T>
std::vector<T> random_values(int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(static_cast<size_t>(std::max<int64_t>(count, 0)));
  for (T& v : values) v = static_cast<T>(uniform(engine));
  return values;
}

}  // namespace weir::cpu

#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace weir {

// An object of a class derived from T, given by value or shared: {StopAtStepHook({.last_step = 100}), my_hook}. Copies
// share it.
template <class T>
class Shared {
 public:
  template <class D>
  requires std::derived_from<D, T> Shared(D object) : object_(std::make_shared<D>(std::move(object))) {}  // NOLINT
  template <class D>
  requires std::derived_from<D, T> Shared(std::shared_ptr<D> object) : object_(std::move(object)) {}  // NOLINT
  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }

 private:
  std::shared_ptr<T> object_;
};

}  // namespace weir

#pragma once

#include <type_traits>
#include <utility>

namespace weir {

// A reference to a callable, valid while the callable lives. Copying it allocates nothing.
template <class Signature>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, FunctionRef>) FunctionRef(F&& f)  // NOLINT: converts implicitly on purpose
      : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace weir

#pragma once

#include <array>
#include <atomic>
#include <string>
#include <string_view>

#include "weir/dtype.h"

namespace weir::accelerator {

// Kernels are written once, in a small dialect that dialect.cc turns into OpenCL C, CUDA C++ or plain C++ by macros.

// A kernel of some source text, by a number that stays the same for the process.
struct KernelRef {
  int id = -1;
};
// The kernel `name` of the text, without the dialect's own head. The same arguments give the same number. Thread-safe.
KernelRef intern_kernel(std::string_view name, std::string text);
struct KernelText {
  std::string name, text;
};
const KernelText& kernel_text(KernelRef kernel);
int interned_kernels();  // numbers are below this

// A kernel of an embedded source in which T, U and V stand for types. Made once, constant; of() is a look-up in a
// table.
class KernelDef {
 public:
  constexpr KernelDef(const char* source, const char* name) : source_(source), name_(name) {}
  // With a text that others share in front of it.
  constexpr KernelDef(const char* before, const char* source, const char* name)
      : before_(before), source_(source), name_(name) {}
  KernelRef of(DType t = DType::Float32, DType u = DType::Float32) const;
  const char* name() const { return name_; }

 private:
  static constexpr int kTypes = 24;
  const char* before_ = "";
  const char* source_;
  const char* name_;
  mutable std::array<std::atomic<int>, kTypes * kTypes> ids_{};  // plus one; 0: not asked for yet
};

// Whether the dialect has the type, and what it is called there.
bool has_type(DType type);
std::string_view type_text(DType type);

// What stands in front of a text: the macros of one of the three languages.
enum class Language { OpenCl, Cuda, Cpp };
std::string_view dialect_head(Language language);

}  // namespace weir::accelerator

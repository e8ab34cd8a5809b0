#include "devices/accelerator/program.h"

#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/errors.h"

namespace weir::accelerator {
namespace {

// The kernels that the process has asked for; compiled ones are the engines'.
struct Registry {
  std::mutex mutex;
  std::deque<KernelText> texts;
  std::unordered_map<std::string, int> ids;
};

Registry& registry() {
  static auto* kernels = new Registry;  // used until the last thread ends
  return *kernels;
}

}  // namespace

KernelRef intern_kernel(std::string_view name, std::string text) {
  Registry& r = registry();
  std::string key = fmt::format("{}\n{}", name, text);
  std::lock_guard lock(r.mutex);
  auto [known, fresh] = r.ids.emplace(std::move(key), static_cast<int>(r.texts.size()));
  if (fresh) r.texts.push_back({std::string(name), std::move(text)});
  return {known->second};
}

const KernelText& kernel_text(KernelRef kernel) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  return r.texts[static_cast<size_t>(kernel.id)];
}

int interned_kernels() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  return static_cast<int>(r.texts.size());
}

KernelRef KernelDef::of(DType t, DType u) const {
  std::atomic<int>& id = ids_[static_cast<size_t>(static_cast<int>(t) * kTypes + static_cast<int>(u))];
  if (const int known = id.load(std::memory_order_acquire)) return {known - 1};
  std::string text = fmt::format("#define T {}\n#define U {}\n", type_text(t), type_text(u));
  if (is_floating(t)) text += "#define T_IS_FLOAT\n";
  const KernelRef kernel = intern_kernel(name_, text + before_ + source_);
  id.store(kernel.id + 1, std::memory_order_release);
  return kernel;
}

std::string_view type_text(DType type) {
  switch (type) {
    case DType::Float32:
      return "float";
    case DType::Float64:
      return "double";
    case DType::Int8:
      return "i8";
    case DType::UInt8:
    case DType::Bool:
      return "u8";
    case DType::Int16:
      return "i16";
    case DType::UInt16:
      return "u16";
    case DType::Int32:
      return "i32";
    case DType::Int64:
      return "i64";
    default:
      return "";
  }
}

bool has_type(DType type) { return !type_text(type).empty(); }

}  // namespace weir::accelerator

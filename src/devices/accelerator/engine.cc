#include "devices/accelerator/engine.h"

#include "base/errors.h"

namespace weir::accelerator {

Engine::Engine(std::shared_ptr<Driver> driver, Language language, KernelCache cache)
    : driver_(std::move(driver)), language_(language), cache_(std::move(cache)) {}

KernelHandle Engine::make(KernelRef kernel) {
  const auto id = static_cast<size_t>(kernel.id);
  if (id / kChunk >= kChunks) throw error(Code::ResourceExhausted, "a process has more than a million kernels");
  const KernelText& text = kernel_text(kernel);
  std::lock_guard lock(mutex_);
  Chunk* chunk = chunks_[id / kChunk].load(std::memory_order_relaxed);
  if (!chunk) {
    owned_.push_back(std::make_unique<Chunk>());
    chunk = owned_.back().get();
    chunks_[id / kChunk].store(chunk, std::memory_order_release);
  }
  KernelHandle handle = (*chunk)[id % kChunk].load(std::memory_order_relaxed);
  if (handle) return handle;
  handle = driver_->find(program(std::string(dialect_head(language_)) + text.text), text.name.c_str());
  (*chunk)[id % kChunk].store(handle, std::memory_order_release);
  return handle;
}

ProgramHandle Engine::program(const std::string& source) {
  auto [known, fresh] = programs_.emplace(source, nullptr);
  if (!fresh) return known->second;
  try {
    if (const auto binary = cache_.find(driver_->info(), source)) {
      try {
        return known->second = driver_->load(*binary);
      } catch (const Error&) {  // not for this driver after all
      }
    }
    const std::string binary = driver_->compile(source);
    ++compiled_;
    cache_.keep(driver_->info(), source, binary);
    return known->second = driver_->load(binary);
  } catch (...) {
    programs_.erase(known);
    throw;
  }
}

}  // namespace weir::accelerator

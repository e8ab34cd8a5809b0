#include "devices/accelerator/kernel_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/errors.h"

namespace weir::accelerator {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t hash(std::string_view text, uint64_t start) {
  uint64_t h = start;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

std::string key_of(const DriverInfo& info, const std::string& source) {
  return info.kind + "\n" + info.driver + "\n" + info.name + "\n" + source;
}

// In front of the binary: what it is of, so that two sources with one hash are told apart, and how long it is.
std::string header_of(const std::string& key, size_t bytes) {
  return fmt::format("weir kernel 1 {:016x} {} {}\n", hash(key, 0x9e3779b97f4a7c15u), key.size(), bytes);
}

}  // namespace

std::string KernelCache::default_folder() {
  if (const char* folder = std::getenv("WEIR_KERNEL_CACHE")) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return std::string(cache) + "/weir/kernels";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/weir/kernels" : "";
}

std::string KernelCache::path(const std::string& key) const {
  return fmt::format("{}/{:016x}.bin", folder_, hash(key, 0xcbf29ce484222325u));
}

std::optional<std::string> KernelCache::find(const DriverInfo& info, const std::string& source) const {
  if (folder_.empty()) return std::nullopt;
  const std::string key = key_of(info, source);
  std::ifstream file(path(key), std::ios::binary);
  std::string header;
  if (!file || !std::getline(file, header)) return std::nullopt;
  std::stringstream rest;
  rest << file.rdbuf();
  std::string binary = std::move(rest).str();
  if (header + "\n" != header_of(key, binary.size()) || binary.empty()) return std::nullopt;
  return binary;
}

void KernelCache::keep(const DriverInfo& info, const std::string& source, const std::string& binary) const {
  if (folder_.empty()) return;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) return;
  const std::string key = key_of(info, source), whole = path(key);
  const std::string unfinished = fmt::format("{}.{}.{}", whole, getpid(), reinterpret_cast<uintptr_t>(&key));
  std::ofstream file(unfinished, std::ios::binary);
  file << header_of(key, binary.size()) << binary;
  file.close();
  if (file) fs::rename(unfinished, whole, failed);
  if (!file || failed) fs::remove(unfinished, failed);
}

}  // namespace weir::accelerator

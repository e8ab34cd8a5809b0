#pragma once

#include <algorithm>
#include <optional>

#include "io/buffered_input.h"
#include "ops/data/dataset.h"

namespace weir::ops {

// Elements from files, one file after the other. `File` opens one of them: File(path, dataset), bool next(Element&).
template <class D, class File>
class FileIterator final : public IteratorOf<D> {
 public:
  using IteratorOf<D>::IteratorOf;
  bool next(const IterateContext& c, Element& out) override {
    for (;;) {
      if (file_) {
        if (file_->next(out)) return true;
        file_.reset();
      }
      const std::vector<std::string>& paths = this->dataset_.paths();
      if (at_ >= paths.size()) return false;
      c.check();
      file_.emplace(paths[at_++], this->dataset_);
    }
  }

 private:
  size_t at_ = 0;
  std::optional<File> file_;
};

// The paths that an input of one or more strings names. Throws InvalidArgument for a tensor of other shape.
inline std::vector<std::string> paths_input(const KernelContext& c, int index) {
  const auto* paths = c.input<std::string>(index);
  return {paths, paths + c.elements(index)};
}

// What a program asks for, within reason; 0: a default.
inline size_t buffer_bytes(int64_t wanted) {
  constexpr int64_t kLeast = 1024, kMost = 64 << 20;
  return wanted == 0 ? io::BufferedInput::kDefaultBuffer : static_cast<size_t>(std::clamp(wanted, kLeast, kMost));
}

inline ElementSpec one_string() { return {{DType::String}, {Shape{}}}; }

// Shape function: a list of paths, or one, before scalars.
template <int... scalars>
void infer_files(InferContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() > 1) c.fail("`filenames` must be a scalar or a vector.");
  infer_dataset<scalars...>(c);
}

}  // namespace weir::ops

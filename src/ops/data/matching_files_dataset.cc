#include <algorithm>

#include "io/file.h"
#include "ops/data/file_dataset.h"

namespace weir::ops {
namespace {

// The files that match patterns when the iteration begins, in the order of their names.
class MatchingFilesDataset final : public Dataset {
 public:
  explicit MatchingFilesDataset(std::vector<std::string> patterns)
      : Dataset(one_string()), patterns_(std::move(patterns)) {}

  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct Iterator final : IteratorOf<MatchingFilesDataset> {
      explicit Iterator(const MatchingFilesDataset& d) : IteratorOf(d) {
        for (const std::string& pattern : d.patterns_) {
          for (std::string& path : io::match_files(pattern)) paths.push_back(std::move(path));
        }
        std::sort(paths.begin(), paths.end());
      }
      bool next(const IterateContext&, Element& out) override {
        if (at >= paths.size()) return false;
        out = {Tensor(paths[at++])};
        return true;
      }
      std::vector<std::string> paths;
      size_t at = 0;
    };
    return std::make_unique<Iterator>(*this);
  }

 private:
  std::vector<std::string> patterns_;
};

void cpu(KernelContext& c) { set_dataset(c, std::make_shared<const MatchingFilesDataset>(paths_input(c, 0))); }

}  // namespace

OpDef matching_files_dataset_op() {
  return {.name = "MatchingFilesDataset",
          .inputs = "patterns:string",
          .outputs = "handle:variant",
          .flags = "stateful",
          .host = "patterns, handle",
          .infer = infer_files<>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::io {

// Which column a feature goes to, by its name.
class FeatureIndex {
 public:
  // Throws InvalidArgument when a key is there twice.
  explicit FeatureIndex(std::vector<std::string> keys);

  const std::vector<std::string>& keys() const { return keys_; }
  int find(std::string_view name) const;  // -1: a feature that nobody asked for

  // Examples of one file mostly hold the same features in the same order. A guesser remembers the order of the example
  // before, so that a look-up is one comparison. Names must stay alive while it is used. For one thread.
  class Guesser {
   public:
    explicit Guesser(const FeatureIndex& index) : index_(index) {}
    void begin_example() { at_ = 0; }
    int find(std::string_view name) {
      if (at_ == seen_.size()) seen_.push_back({name, index_.find(name)});
      Seen& seen = seen_[at_++];
      if (seen.name != name) seen = {name, index_.find(name)};
      return seen.column;
    }

   private:
    struct Seen {
      std::string_view name;
      int column;
    };
    const FeatureIndex& index_;
    std::vector<Seen> seen_;
    size_t at_ = 0;
  };

 private:
  std::vector<std::string> keys_;
  std::vector<int> slots_;  // open addressing; -1: free
};

}  // namespace weir::io

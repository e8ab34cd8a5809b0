#pragma once

namespace weir::train {

// SIGTERM, as schedulers send it before they take a machine away: the training ends, and saves, instead of being cut
// off. While one of these lives, a SIGTERM that nobody else handles asks for an end; a second one ends the process.
class Termination {
 public:
  explicit Termination(bool enter);
  ~Termination() { leave(); }
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;
  bool requested() const;
  void leave();

 private:
  bool entered_ = false, requested_ = false;
};

}  // namespace weir::train

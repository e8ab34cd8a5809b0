#pragma once

#include <memory>
#include <vector>

#include "weir/export.h"
#include "weir/session.h"

namespace weir {

// A run that is made in pieces: each gives some of the feeds and takes some of the fetches that were named beforehand.
// What one piece has computed the next ones use; no operation runs twice. For one thread at a time; must not outlive
// the session.
class WEIR_API PartialRun {
 public:
  // Throws InvalidArgument when nothing is to be fetched or run.
  PartialRun(Session& session, const CallableSpec& spec);
  ~PartialRun();
  PartialRun(const PartialRun&) = delete;
  PartialRun& operator=(const PartialRun&) = delete;

  // Throws InvalidArgument for feeds and fetches that were not named, or came before, and for what needs a feed that
  // has not come.
  std::vector<Tensor> run(const std::vector<Output>& fetches, const std::vector<Feed>& feeds,
                          const std::vector<Operation>& targets = {}, const RunOptions& options = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir

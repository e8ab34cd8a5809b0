#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "ops/kernel.h"
#include "proto/summary.pb.h"
#include "weir/events.h"

namespace weir::ops {

// An event file that operations write. Thread-safe; every write holds the file open until it has ended.
class SummaryWriter final : public Resource {
 public:
  std::string describe() const override { return "a writer of summaries"; }
  // Does nothing while a file is open.
  void open(const std::string& logdir, const summary::FileWriterOptions& options);
  // Throws NotFound when no file is open.
  std::shared_ptr<summary::FileWriter> file() const;
  // What was written is in the file afterwards. Does nothing without an open file.
  void close();

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<summary::FileWriter> file_;
};

// Writes a summary with the writer that is input 0 of a kernel, at the step that is its input 1.
void write_summary(KernelContext& c, const proto::Summary& summary);

// A row Write...: input 0 is a writer, input 1 the step, and `inputs` come behind.
OpDef write_row(std::string_view name, std::string_view inputs, std::string_view attrs, void (*infer)(InferContext&),
                Kernel cpu);

}  // namespace weir::ops

#include "ops/summary/summary_writer.h"

#include "ops/summary/summary_output.h"
#include "ops/types.h"

namespace weir::ops {

void SummaryWriter::open(const std::string& logdir, const summary::FileWriterOptions& options) {
  std::lock_guard lock(mutex_);
  if (!file_) file_ = std::make_shared<summary::FileWriter>(logdir, options);
}

std::shared_ptr<summary::FileWriter> SummaryWriter::file() const {
  std::lock_guard lock(mutex_);
  if (!file_) throw Error(Code::NotFound, "the writer of summaries is not initialized, or closed");
  return file_;
}

void SummaryWriter::close() {
  std::shared_ptr<summary::FileWriter> file;
  {
    std::lock_guard lock(mutex_);
    file = std::move(file_);
  }
  if (file) file->close();
}

void write_summary(KernelContext& c, const proto::Summary& summary) {
  std::string bytes;
  if (!summary.SerializeToString(&bytes)) c.fail("the summary is larger than 2 GB");
  c.resource<SummaryWriter>(0).file()->add_summary(bytes, c.scalar<int64_t>(1));
}

namespace {

struct State {
  ResourcePtr<SummaryWriter> writer;
};
State prepare(PrepareContext& c) {
  return {c.named_resource<SummaryWriter>([](const std::string&) { return make_resource<SummaryWriter>(); })};
}
void give(KernelContext& c) { c.set_resource(0, c.state<State>().writer.get()); }

void infer_create(InferContext& c) {
  for (int i = 0; i < 5; ++i) c.require_scalar(i);
}

void create(KernelContext& c) {
  summary::FileWriterOptions options;
  options.max_queue = c.scalar<int32_t>(2);
  options.flush_every = std::chrono::milliseconds(c.scalar<int32_t>(3));
  options.filename_suffix = c.input<std::string>(4)[0];
  c.resource<SummaryWriter>(0).open(c.input<std::string>(1)[0], options);
}

void flush(KernelContext& c) { c.resource<SummaryWriter>(0).file()->flush(); }
void close(KernelContext& c) { c.resource<SummaryWriter>(0).close(); }

void write_raw(KernelContext& c) {
  c.resource<SummaryWriter>(0).file()->add_summary(c.input<std::string>(2)[0], c.scalar<int64_t>(1));
}

void write_graph(KernelContext& c) {
  c.resource<SummaryWriter>(0).file()->add_graph_def(c.input<std::string>(2)[0], c.scalar<int64_t>(1));
}

void infer_writer(InferContext& c) { c.require_scalar(0); }

void infer_message(InferContext& c) {
  c.require_scalar(1);
  c.require_scalar(2);
}

OpDef row(std::string_view name, std::string_view inputs, void (*infer)(InferContext&), Kernel cpu) {
  return {.name = name,
          .inputs = inputs,
          .flags = "stateful",
          .host = "writer",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = cpu,
          .host_only = true};
}

}  // namespace

OpDef write_row(std::string_view name, std::string_view inputs, std::string_view attrs, void (*infer)(InferContext&),
                Kernel cpu) {
  OpDef made = row(name, inputs, infer, cpu);
  made.attrs = attrs;
  return made;
}

OpDef summary_writer_op() {
  return {.name = "SummaryWriter",
          .outputs = "writer:resource",
          .attrs = "shared_name:string=''; container:string=''",
          .flags = "stateful",
          .host = "writer",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<give>, .prepare = prepared<prepare>},
          .host_only = true};
}
OpDef create_summary_file_writer_op() {
  return row("CreateSummaryFileWriter",
             "writer:resource; logdir:string; max_queue:int32; flush_millis:int32; filename_suffix:string",
             infer_create, {.select = kernel_any<create>});
}
OpDef flush_summary_writer_op() {
  return row("FlushSummaryWriter", "writer:resource", infer_writer, {.select = kernel_any<flush>});
}
OpDef close_summary_writer_op() {
  return row("CloseSummaryWriter", "writer:resource", infer_writer, {.select = kernel_any<close>});
}
OpDef write_raw_proto_summary_op() {
  return row("WriteRawProtoSummary", "writer:resource; step:int64; tensor:string", infer_message,
             {.select = kernel_any<write_raw>});
}
OpDef write_graph_summary_op() {
  return row("WriteGraphSummary", "writer:resource; step:int64; tensor:string", infer_message,
             {.select = kernel_any<write_graph>});
}

}  // namespace weir::ops

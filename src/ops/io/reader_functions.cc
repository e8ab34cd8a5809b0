#include "weir/readers.h"

namespace weir {
namespace {

std::string compression_name(Compression compression) {
  return compression == Compression::Gzip ? "GZIP" : compression == Compression::Zlib ? "ZLIB" : "";
}

ReaderBase::Record record_of(const Operation& op) { return {op.output(0), op.output(1)}; }

}  // namespace

ReaderBase::Record ReaderBase::read(const In& queue, std::string_view name) const {
  return record_of(NodeBuilder("ReaderReadV2", name).input(handle_).input(queue).build());
}

ReaderBase::Record ReaderBase::read_up_to(const In& queue, const In& num_records, std::string_view name) const {
  return record_of(NodeBuilder("ReaderReadUpToV2", name).input(handle_).input(queue).input(num_records).build());
}

Output ReaderBase::num_records_produced(std::string_view name) const {
  return NodeBuilder("ReaderNumRecordsProducedV2", name).input(handle_).output();
}

Output ReaderBase::num_work_units_completed(std::string_view name) const {
  return NodeBuilder("ReaderNumWorkUnitsCompletedV2", name).input(handle_).output();
}

Operation ReaderBase::reset(std::string_view name) const {
  return NodeBuilder("ReaderResetV2", name).input(handle_).build();
}

Output ReaderBase::serialize_state(std::string_view name) const {
  return NodeBuilder("ReaderSerializeStateV2", name).input(handle_).output();
}

Operation ReaderBase::restore_state(const In& state, std::string_view name) const {
  return NodeBuilder("ReaderRestoreStateV2", name).input(handle_).input(state).build();
}

TFRecordReader::TFRecordReader(Graph& graph, Compression compression, std::string_view name)
    : ReaderBase(NodeBuilder("TFRecordReaderV2", name)
                     .graph(graph)
                     .attr("compression_type", compression_name(compression))
                     .output()) {}

TextLineReader::TextLineReader(Graph& graph, int64_t skip_header_lines, std::string_view name)
    : ReaderBase(
          NodeBuilder("TextLineReaderV2", name).graph(graph).attr("skip_header_lines", skip_header_lines).output()) {}

FixedLengthRecordReader::FixedLengthRecordReader(Graph& graph, const FixedLengthRecordOptions& options,
                                                 std::string_view name)
    : ReaderBase(NodeBuilder("FixedLengthRecordReaderV2", name)
                     .graph(graph)
                     .attr("record_bytes", options.record_bytes)
                     .attr("header_bytes", options.header_bytes)
                     .attr("footer_bytes", options.footer_bytes)
                     .attr("hop_bytes", options.hop_bytes)
                     .attr("encoding", compression_name(options.compression))
                     .output()) {}

WholeFileReader::WholeFileReader(Graph& graph, std::string_view name)
    : ReaderBase(NodeBuilder("WholeFileReaderV2", name).graph(graph).output()) {}

IdentityReader::IdentityReader(Graph& graph, std::string_view name)
    : ReaderBase(NodeBuilder("IdentityReaderV2", name).graph(graph).output()) {}

}  // namespace weir

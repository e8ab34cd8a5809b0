#include "base/errors.h"
#include "proto/event.pb.h"
#include "tensor/tensor_proto.h"
#include "weir/events.h"

namespace weir::summary {
namespace {

// A tensor of a damaged or hostile file is not worth more memory than this.
constexpr int64_t kMostExpansion = int64_t{1} << 24;

std::string describe(const proto::HistogramProto& histogram) {
  if (histogram.num() == 0) return "no values";
  return fmt::format("{:g} values from {:g} to {:g}, mean {:g}", histogram.num(), histogram.min(), histogram.max(),
                     histogram.sum() / histogram.num());
}

std::string describe(const proto::TensorProto& message) {
  ExpansionAllowance allowance(kMostExpansion);
  return tensor_from_proto(message, allowance).str(8);
}

Event::Value value_of(const proto::Summary::Value& message) {
  Event::Value value;
  value.tag = message.tag().empty() ? message.node_name() : message.tag();
  switch (message.value_case()) {
    case proto::Summary::Value::kSimpleValue:
      value.kind = "scalar";
      value.scalar = static_cast<double>(message.simple_value());
      value.text = fmt::format("{}", message.simple_value());
      break;
    case proto::Summary::Value::kHisto:
      value.kind = "histogram";
      value.text = describe(message.histo());
      break;
    case proto::Summary::Value::kImage:
      value.kind = "image";
      value.text =
          fmt::format("{} x {} x {}", message.image().height(), message.image().width(), message.image().colorspace());
      value.encoded = message.image().encoded_image_string();
      break;
    case proto::Summary::Value::kAudio:
      value.kind = "audio";
      value.text = fmt::format("{} frames at {:g} Hz", message.audio().length_frames(), message.audio().sample_rate());
      value.encoded = message.audio().encoded_audio_string();
      break;
    case proto::Summary::Value::kTensor:
      value.kind = "tensor";
      value.text = describe(message.tensor());
      break;
    default:
      value.kind = "none";
  }
  return value;
}

std::string text_of(const proto::Event& message) {
  switch (message.what_case()) {
    case proto::Event::kFileVersion:
      return message.file_version();
    case proto::Event::kGraphDef:
      return fmt::format("{} bytes", message.graph_def().size());
    case proto::Event::kMetaGraphDef:
      return fmt::format("{} bytes", message.meta_graph_def().size());
    case proto::Event::kLogMessage:
      return message.log_message().message();
    case proto::Event::kSessionLog:
      return proto::SessionLog::SessionStatus_Name(message.session_log().status()) + " " +
             message.session_log().checkpoint_path() + message.session_log().msg();
    case proto::Event::kTaggedRunMetadata:
      return message.tagged_run_metadata().tag();
    default:
      return {};
  }
}

}  // namespace

Event Event::parse(std::string_view bytes) {
  proto::Event message;
  if (!message.ParseFromString(std::string(bytes))) {
    throw error(Code::DataLoss, "{} bytes are no Event message", bytes.size());
  }
  Event event;
  event.wall_time = message.wall_time();
  event.step = message.step();
  if (const auto* field = proto::Event::descriptor()->FindFieldByNumber(message.what_case()))
    event.kind = field->name();
  event.text = text_of(message);
  for (const proto::Summary::Value& value : message.summary().value()) {
    try {
      event.values.push_back(value_of(value));
    } catch (const Error& e) {  // of a tensor that does not fit its message
      throw error(Code::DataLoss, "the value '{}' of an event is damaged: {}", value.tag(), e.message());
    }
  }
  return event;
}

}  // namespace weir::summary

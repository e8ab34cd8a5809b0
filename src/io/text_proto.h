#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace weir::io {

// Reads protobuf's text format; false when it does not parse. Nothing is printed, unlike by TextFormat itself.
bool parse_text(const std::string& text, google::protobuf::Message& message);

}  // namespace weir::io

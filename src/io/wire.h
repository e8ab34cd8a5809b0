#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace weir::io {

// Walks through the fields of a protobuf message as it stands on the wire, without making a message of it. Nothing that
// it is given makes it read outside of the bytes.
class WireReader {
 public:
  enum class Kind : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Group = 3, GroupEnd = 4, Fixed32 = 5 };

  explicit WireReader(std::string_view message) : at_(message.data()), end_(at_ + message.size()) {}

  // The next field, whose value must be taken or skipped before the next call; false at the end and where the message
  // is damaged, which good() tells apart.
  bool next() {
    if (at_ == end_) return false;
    uint64_t tag;
    if (!take_varint(tag)) return false;
    kind_ = static_cast<Kind>(tag & 7);
    field_ = static_cast<uint32_t>(tag >> 3);
    if (tag > 0xffffffff || field_ == 0) return fail();
    return true;
  }
  uint32_t field() const { return field_; }
  Kind kind() const { return kind_; }
  bool is(uint32_t field, Kind kind) const { return field_ == field && kind_ == kind; }
  bool good() const { return good_; }

  bool take_varint(uint64_t& value) {
    if (at_ < end_ && static_cast<uint8_t>(*at_) < 0x80) {
      value = static_cast<uint8_t>(*at_++);
      return true;
    }
    value = 0;
    for (unsigned shift = 0; shift < 70 && at_ < end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(*at_++);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return fail();
  }
  bool take_bytes(std::string_view& bytes) {
    uint64_t size;
    if (!take_varint(size)) return false;
    if (size > static_cast<size_t>(end_ - at_)) return fail();
    bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }
  bool take_fixed32(uint32_t& value) {
    if (end_ - at_ < 4) return fail();
    std::memcpy(&value, at_, 4);
    at_ += 4;
    return true;
  }
  // Passes over the value of a field that is of no interest.
  bool skip() {
    uint64_t number;
    std::string_view bytes;
    switch (kind_) {
      case Kind::Varint:
        return take_varint(number);
      case Kind::Fixed64:
        return skip_fixed(8);
      case Kind::Bytes:
        return take_bytes(bytes);
      case Kind::Fixed32:
        return skip_fixed(4);
      default:
        return fail();  // groups: no message that Weir reads has ever had one
    }
  }

 private:
  bool fail() {
    good_ = false;
    at_ = end_;
    return false;
  }
  bool skip_fixed(ptrdiff_t size) {
    if (end_ - at_ < size) return fail();
    at_ += size;
    return true;
  }

  const char *at_, *end_;
  uint32_t field_ = 0;
  Kind kind_ = Kind::Varint;
  bool good_ = true;
};

}  // namespace weir::io

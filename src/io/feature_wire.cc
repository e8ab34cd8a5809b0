#include "io/feature_wire.h"

#include <cstring>

#include "io/wire.h"

namespace weir::io {
namespace {

using Kind = WireReader::Kind;

// The numbers of a packed list end where the top bit of a byte is clear. Negative when the last one does not end, or
// one is longer than ten bytes.
int64_t count_varints(std::string_view packed) {
  int64_t count = 0;
  int run = 0;
  const char *at = packed.data(), *const end = at + packed.size();
  while (at < end) {
    uint64_t word;
    if (run == 0 && end - at >= 8 && (std::memcpy(&word, at, 8), (word & 0x8080808080808080u) == 0)) {
      count += 8;
      at += 8;
      continue;
    }
    if (static_cast<uint8_t>(*at++) < 0x80) {
      ++count;
      run = 0;
    } else if (++run >= 10) {
      return -1;
    }
  }
  return run == 0 ? count : -1;
}

int64_t* copy_varints(std::string_view packed, int64_t* out) {
  const char *at = packed.data(), *const end = at + packed.size();
  while (at < end) {
    uint64_t byte = static_cast<uint8_t>(*at++), value = byte & 0x7f;
    for (unsigned shift = 7; byte >= 0x80; shift += 7) {
      byte = static_cast<uint8_t>(*at++);
      if (shift < 64) value |= (byte & 0x7f) << shift;
    }
    *out++ = static_cast<int64_t>(value);
  }
  return out;
}

int64_t count_bytes(std::string_view list) {
  int64_t count = 0;
  WireReader reader(list);
  std::string_view value;
  while (reader.next()) {
    if (!reader.is(1, Kind::Bytes)) {
      reader.skip();
    } else if (reader.take_bytes(value)) {
      ++count;
    }
  }
  return reader.good() ? count : -1;
}

int64_t count_floats(std::string_view list) {
  int64_t count = 0;
  WireReader reader(list);
  std::string_view packed;
  while (reader.next()) {
    if (reader.is(1, Kind::Bytes)) {
      if (!reader.take_bytes(packed)) break;
      if (packed.size() % 4 != 0) return -1;
      count += static_cast<int64_t>(packed.size() / 4);
    } else if (reader.skip()) {
      count += reader.is(1, Kind::Fixed32);
    }
  }
  return reader.good() ? count : -1;
}

int64_t count_ints(std::string_view list) {
  int64_t count = 0;
  WireReader reader(list);
  std::string_view packed;
  while (reader.next()) {
    if (reader.is(1, Kind::Bytes)) {
      if (!reader.take_bytes(packed)) break;
      const int64_t numbers = count_varints(packed);
      if (numbers < 0) return -1;
      count += numbers;
    } else if (reader.skip()) {
      count += reader.is(1, Kind::Varint);
    }
  }
  return reader.good() ? count : -1;
}

void copy_bytes(std::string_view list, std::string* out) {
  WireReader reader(list);
  std::string_view value;
  while (reader.next()) {
    if (!reader.is(1, Kind::Bytes)) {
      reader.skip();
    } else if (reader.take_bytes(value)) {
      out++->assign(value);
    }
  }
}

void copy_floats(std::string_view list, float* out) {
  WireReader reader(list);
  std::string_view packed;
  uint32_t bits;
  while (reader.next()) {
    if (reader.is(1, Kind::Bytes)) {
      if (!reader.take_bytes(packed) || packed.empty()) continue;
      std::memcpy(out, packed.data(), packed.size());  // files and machines are little-endian
      out += packed.size() / 4;
    } else if (!reader.is(1, Kind::Fixed32)) {
      reader.skip();
    } else if (reader.take_fixed32(bits)) {
      std::memcpy(out++, &bits, 4);
    }
  }
}

void copy_ints(std::string_view list, int64_t* out) {
  WireReader reader(list);
  std::string_view packed;
  uint64_t number;
  while (reader.next()) {
    if (reader.is(1, Kind::Bytes)) {
      if (reader.take_bytes(packed)) out = copy_varints(packed, out);
    } else if (!reader.is(1, Kind::Varint)) {
      reader.skip();
    } else if (reader.take_varint(number)) {
      *out++ = static_cast<int64_t>(number);
    }
  }
}

// One of the lists that a Feature message may hold; the last counts.
bool read_feature(std::string_view message, WireFeature& feature) {
  static constexpr DType kTypes[] = {DType::Invalid, DType::String, DType::Float32, DType::Int64};
  WireReader reader(message);
  while (reader.next()) {
    if (reader.kind() == Kind::Bytes && reader.field() <= 3) {
      feature.dtype = kTypes[reader.field()];
      reader.take_bytes(feature.list);
    } else {
      reader.skip();
    }
  }
  return reader.good();
}

// An entry of a map: its key is field 1, its value field 2.
bool read_entry(std::string_view entry, std::string_view& key, std::string_view& value) {
  WireReader reader(entry);
  while (reader.next()) {
    if (reader.is(1, Kind::Bytes)) {
      reader.take_bytes(key);
    } else if (reader.is(2, Kind::Bytes)) {
      reader.take_bytes(value);
    } else {
      reader.skip();
    }
  }
  return reader.good();
}

// The entries of a message whose field 1 is a map.
template <class Visit>
bool visit_map(std::string_view message, const Visit& visit) {
  WireReader reader(message);
  std::string_view entry;
  while (reader.next()) {
    if (!reader.is(1, Kind::Bytes)) {
      reader.skip();
      continue;
    }
    std::string_view key, value;
    if (reader.take_bytes(entry) && (!read_entry(entry, key, value) || !visit(key, value))) return false;
  }
  return reader.good();
}

}  // namespace

int64_t WireFeature::count() const {
  switch (dtype) {
    case DType::String:
      return count_bytes(list);
    case DType::Float32:
      return count_floats(list);
    case DType::Int64:
      return count_ints(list);
    default:
      return 0;
  }
}

void WireFeature::copy_to(void* out) const {
  switch (dtype) {
    case DType::String:
      return copy_bytes(list, static_cast<std::string*>(out));
    case DType::Float32:
      return copy_floats(list, static_cast<float*>(out));
    case DType::Int64:
      return copy_ints(list, static_cast<int64_t*>(out));
    default:
      return;
  }
}

bool visit_features(std::string_view features,
                    FunctionRef<void(std::string_view name, const WireFeature& feature)> visit) {
  return visit_map(features, [&](std::string_view name, std::string_view value) {
    WireFeature feature;
    if (!read_feature(value, feature)) return false;
    visit(name, feature);
    return true;
  });
}

bool visit_example(std::string_view example,
                   FunctionRef<void(std::string_view name, const WireFeature& feature)> visit) {
  WireReader reader(example);
  std::string_view features;
  while (reader.next()) {
    if (!reader.is(1, Kind::Bytes)) {
      reader.skip();
    } else if (reader.take_bytes(features) && !visit_features(features, visit)) {
      return false;
    }
  }
  return reader.good();
}

bool visit_sequence_example(std::string_view message,
                            FunctionRef<void(std::string_view name, const WireFeature& feature)> visit_context,
                            FunctionRef<void(std::string_view name, std::string_view list)> visit_list) {
  WireReader reader(message);
  std::string_view part;
  auto list = [&](std::string_view name, std::string_view value) {
    visit_list(name, value);
    return true;
  };
  while (reader.next()) {
    if (reader.kind() != Kind::Bytes || reader.field() > 2) {
      reader.skip();
    } else if (reader.take_bytes(part)) {
      if (!(reader.field() == 1 ? visit_features(part, visit_context) : visit_map(part, list))) return false;
    }
  }
  return reader.good();
}

bool visit_feature_list(std::string_view list, FunctionRef<void(const WireFeature& feature)> visit) {
  WireReader reader(list);
  std::string_view part;
  while (reader.next()) {
    if (!reader.is(1, Kind::Bytes)) {
      reader.skip();
    } else if (reader.take_bytes(part)) {
      WireFeature feature;
      if (!read_feature(part, feature)) return false;
      visit(feature);
    }
  }
  return reader.good();
}

}  // namespace weir::io

#include "distributed/wire.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <cstring>

#include "base/errors.h"
#include "proto/tensor.pb.h"
#include "tensor/elements.h"
#include "tensor/tensor_proto.h"

namespace weir::distributed {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
// Of TensorProto and NamedTensorProto.
enum Field : uint32_t { kDtype = 1, kShape = 2, kContent = 4, kName = 1, kTensor = 2 };
enum ShapeField : uint32_t { kDim = 2, kDimSize = 1 };  // of TensorShapeProto and its Dim
// Shorter ones are written as one piece with the rest.
constexpr size_t kShort = 4096;

void put_varint(std::string& bytes, uint64_t value) {
  while (value >= 0x80) {
    bytes.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes.push_back(static_cast<char>(value));
}
size_t varint_size(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}
void put_tag(std::string& bytes, uint32_t field, WireType type) { put_varint(bytes, (field << 3) | type); }

std::shared_ptr<const void> keep(const Tensor& tensor) { return std::make_shared<const Tensor>(tensor); }

bool has_content(const Tensor& tensor) { return is_plain(tensor.dtype()) && tensor.elements() > 1; }

// A TensorShapeProto, written by hand as every value that crosses has one: a dimension is a message with its size.
size_t dimension_size(int64_t size) { return size == 0 ? 0 : 1 + varint_size(static_cast<uint64_t>(size)); }
size_t shape_size(const Shape& shape) {
  size_t bytes = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) bytes += 2 + dimension_size(shape.dim(axis));
  return bytes;
}
void put_shape(std::string& bytes, const Shape& shape) {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t size = shape.dim(axis);
    put_tag(bytes, kDim, kBytes);
    put_varint(bytes, dimension_size(size));
    if (size == 0) continue;
    put_tag(bytes, kDimSize, kVarint);
    put_varint(bytes, static_cast<uint64_t>(size));
  }
}

// Everything of the tensor but its elements, and then, if they are long, its elements as a piece of their own.
void add_field(Message& message, int field, const std::string* name, const Tensor& tensor) {
  const bool is_raw = has_content(tensor);
  const size_t content = is_raw ? tensor.bytes() : 0, shape = is_raw ? shape_size(tensor.shape()) : 0;
  const auto type = static_cast<uint64_t>(tensor.dtype());
  std::string others;  // the whole tensor, when its elements do not stand in it as they are
  size_t tensor_bytes = 0;
  if (is_raw) {
    tensor_bytes = 1 + varint_size(type) + 1 + varint_size(shape) + shape + 1 + varint_size(content) + content;
  } else {
    proto::TensorProto whole;
    tensor_to_proto(tensor, whole);
    whole.AppendToString(&others);
    tensor_bytes = others.size();
  }
  const bool is_short = content <= kShort;
  constexpr size_t kTags = 64;
  std::string head;
  head.reserve(kTags + (name ? name->size() : 0) + (is_short ? tensor_bytes : shape));
  put_tag(head, static_cast<uint32_t>(field), kBytes);
  if (name) {
    put_varint(head, 1 + varint_size(name->size()) + name->size() + 1 + varint_size(tensor_bytes) + tensor_bytes);
    put_tag(head, kName, kBytes);
    put_varint(head, name->size());
    head += *name;
    put_tag(head, kTensor, kBytes);
  }
  put_varint(head, tensor_bytes);
  head += others;
  if (is_raw) {
    put_tag(head, kDtype, kVarint);
    put_varint(head, type);
    put_tag(head, kShape, kBytes);
    put_varint(head, shape);
    put_shape(head, tensor.shape());
    put_tag(head, kContent, kBytes);
    put_varint(head, content);
    if (is_short) head.append(static_cast<const char*>(tensor.raw()), content);
  }
  message.add(std::move(head));
  if (!is_short) message.add(tensor.raw(), content, keep(tensor));
}

[[noreturn]] void refuse() { throw invalid_argument("a message is cut short or malformed"); }

// Walks over the bytes of a message, up to a limit.
class Reader {
 public:
  explicit Reader(const Message& message) : pieces_(message.pieces()), left_(message.size()) {}

  size_t left() const { return left_; }
  bool done() const { return left_ == 0; }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      char byte = 0;
      read(&byte, 1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
    refuse();
  }
  size_t length() {
    const uint64_t size = varint();
    if (size > left_) refuse();
    return static_cast<size_t>(size);
  }
  void read(void* to, size_t size) {
    if (size > left_) refuse();
    left_ -= size;
    auto* at = static_cast<char*>(to);
    while (size > 0) {
      const Message::Piece& piece = pieces_[piece_];
      const size_t part = std::min(size, piece.size - offset_);
      std::memcpy(at, piece.data + offset_, part);
      at += part;
      size -= part;
      offset_ += part;
      if (offset_ == piece.size) {
        ++piece_;
        offset_ = 0;
      }
    }
  }
  std::string text(size_t size) {
    if (size > left_) refuse();
    std::string bytes(size, '\0');
    read(bytes.data(), size);
    return bytes;
  }
  // Only the next `size` bytes are there, until pop().
  size_t push(size_t size) {
    const size_t outside = left_ - size;
    left_ = size;
    return outside;
  }
  void pop(size_t outside) {
    if (left_ != 0) refuse();
    left_ = outside;
  }
  // The field's value as it stands in the message, after its tag.
  void append_value(uint32_t type, std::string& to) {
    switch (type) {
      case kVarint:
        put_varint(to, varint());
        break;
      case kFixed64:
        to += text(8);
        break;
      case kFixed32:
        to += text(4);
        break;
      case kBytes: {
        const size_t size = length();
        put_varint(to, size);
        to += text(size);
        break;
      }
      default:
        refuse();
    }
  }

 private:
  const std::span<const Message::Piece> pieces_;
  size_t piece_ = 0, offset_ = 0;
  size_t left_;
};

void parse(const std::string& bytes, google::protobuf::MessageLite& message) {
  google::protobuf::LogSilencer silence;
  if (bytes.size() > INT32_MAX || !message.ParseFromString(bytes)) refuse();
}

Tensor with_content(const proto::TensorProto& head, Reader& reader, size_t size) {
  const auto type = static_cast<DType>(head.dtype());
  if (dtype_size(type) == 0 || !is_plain(type)) {
    throw invalid_argument("a tensor of type {} has raw content", static_cast<int>(head.dtype()));
  }
  const Shape shape = shape_from_proto(head.tensor_shape());
  if (!shape.is_known()) throw invalid_argument("a tensor's shape is not fully known");
  const int64_t elements = shape.elements();
  if (elements < 0 || size % dtype_size(type) != 0 || size / dtype_size(type) != static_cast<uint64_t>(elements)) {
    throw invalid_argument("a tensor of shape {} has {} bytes of content", shape.str(), size);
  }
  Tensor tensor(type, shape);
  reader.read(tensor.mutable_raw(), size);
  if (type == DType::Bool) {  // any other bit pattern in a bool is undefined behaviour
    auto* bytes = static_cast<unsigned char*>(tensor.mutable_raw());
    for (size_t i = 0; i < size; ++i) bytes[i] = bytes[i] != 0;
  }
  return tensor;
}

// A TensorProto that takes all that the reader has left.
Tensor read_tensor(Reader& reader) {
  std::string others;  // fields of other kinds
  Tensor tensor;
  while (!reader.done()) {
    const uint64_t tag = reader.varint();
    if (tag == ((kContent << 3) | kBytes) && !tensor.valid()) {
      const size_t size = reader.length();
      char space[1024];  // what few dimensions need
      google::protobuf::ArenaOptions options;
      options.initial_block = space;
      options.initial_block_size = sizeof(space);
      google::protobuf::Arena arena(options);
      auto& head = *google::protobuf::Arena::CreateMessage<proto::TensorProto>(&arena);
      parse(others, head);
      // A writer that puts the content before the type and the shape is read the slow way.
      if (size > 0 && is_plain(static_cast<DType>(head.dtype())) && dtype_size(static_cast<DType>(head.dtype())) > 0 &&
          head.has_tensor_shape() && head.ByteSizeLong() < kShort) {
        tensor = with_content(head, reader, size);
        continue;
      }
      put_tag(others, kContent, kBytes);
      put_varint(others, size);
      others += reader.text(size);
      continue;
    }
    put_varint(others, tag);
    reader.append_value(static_cast<uint32_t>(tag & 7), others);
  }
  if (tensor.valid()) return tensor;
  proto::TensorProto message;
  parse(others, message);
  ExpansionAllowance allowance;
  return tensor_from_proto(message, allowance);
}

}  // namespace

Message encode(const google::protobuf::MessageLite& message) {
  if (message.ByteSizeLong() > INT32_MAX) {
    throw error(Code::ResourceExhausted, "a message of {} bytes is larger than 2GB", message.ByteSizeLong());
  }
  return Message(message.SerializeAsString());
}

void decode(const Message& bytes, google::protobuf::MessageLite& message) {
  google::protobuf::LogSilencer silence;
  if (bytes.size() > INT32_MAX) refuse();
  if (bytes.pieces().size() == 1) {
    if (!message.ParseFromArray(bytes.pieces()[0].data, static_cast<int>(bytes.size()))) refuse();
  } else {
    parse(bytes.flat(), message);
  }
}

void add_tensor(Message& message, int field, const Tensor& tensor) { add_field(message, field, nullptr, tensor); }
void add_named_tensor(Message& message, int field, const std::string& name, const Tensor& tensor) {
  add_field(message, field, &name, tensor);
}

void decode_with_tensors(const Message& bytes, int field, bool named, google::protobuf::MessageLite& rest,
                         const FoundTensor& found) {
  Reader reader(bytes);
  std::string others;
  while (!reader.done()) {
    const uint64_t tag = reader.varint();
    if (tag != ((static_cast<uint32_t>(field) << 3) | kBytes)) {
      put_varint(others, tag);
      reader.append_value(static_cast<uint32_t>(tag & 7), others);
      continue;
    }
    const size_t size = reader.length();
    const size_t outside = reader.push(size);
    std::string name;
    Tensor tensor;
    if (!named) {
      tensor = read_tensor(reader);
    } else {
      while (!reader.done()) {
        const uint64_t inner = reader.varint();
        if (inner == ((kName << 3) | kBytes)) {
          name = reader.text(reader.length());
        } else if (inner == ((kTensor << 3) | kBytes)) {
          const size_t length = reader.length();
          const size_t around = reader.push(length);
          tensor = read_tensor(reader);
          reader.pop(around);
        } else {
          std::string ignored;
          reader.append_value(static_cast<uint32_t>(inner & 7), ignored);
        }
      }
      if (!tensor.valid()) throw invalid_argument("'{}' comes without a tensor", name);
    }
    reader.pop(outside);
    found(std::move(name), std::move(tensor));
  }
  parse(others, rest);
}

}  // namespace weir::distributed

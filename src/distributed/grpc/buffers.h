#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "distributed/message.h"

namespace weir::distributed {

// Both share the bytes. Short pieces are copied: gRPC keeps them inside its own structures.
inline grpc::ByteBuffer to_buffer(const Message& message) {
  constexpr size_t kShort = 1024;
  std::vector<grpc::Slice> slices;
  slices.reserve(message.pieces().size());
  for (const Message::Piece& piece : message.pieces()) {
    if (piece.size <= kShort) {
      slices.emplace_back(piece.data, piece.size);
    } else {
      auto* owner = new std::shared_ptr<const void>(piece.owner);
      slices.emplace_back(
          const_cast<char*>(piece.data), piece.size,
          [](void* kept) { delete static_cast<std::shared_ptr<const void>*>(kept); }, owner);
    }
  }
  if (slices.empty()) slices.emplace_back();
  return {slices.data(), slices.size()};
}

inline Message to_message(const grpc::ByteBuffer& buffer) {
  Message message;
  auto slices = std::make_shared<std::vector<grpc::Slice>>();
  if (!buffer.Valid() || !buffer.Dump(slices.get()).ok()) return message;
  for (const grpc::Slice& slice : *slices) message.add(slice.begin(), slice.size(), slices);
  return message;
}

}  // namespace weir::distributed

#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "distributed/transport.h"

namespace weir::distributed {

// Of servers and of those who call them. Throw InvalidArgument for files that cannot be read.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const Credentials& credentials);
std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const Credentials& credentials);

// The call's token travels as this header, "Bearer TOKEN".
inline constexpr const char* kTokenHeader = "authorization";
inline constexpr std::string_view kTokenPrefix = "Bearer ";

}  // namespace weir::distributed

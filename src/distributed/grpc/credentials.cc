#include "distributed/grpc/credentials.h"

#include <fstream>
#include <sstream>

#include "weir/error.h"

namespace weir::distributed {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw Error(Code::InvalidArgument, "the file '" + path + "' of the credentials cannot be read");
  return text.str();
}

bool wants_tls(const Credentials& c) {
  const int given = !c.ca_file.empty() + !c.certificate_file.empty() + !c.key_file.empty();
  if (given == 0) return false;
  if (given == 3) return true;
  throw Error(Code::InvalidArgument,
              "mutual TLS needs three files: those of the authority, the certificate and its key");
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const Credentials& c) {
  if (!wants_tls(c)) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = read(c.ca_file);
  options.pem_key_cert_pairs.push_back({read(c.key_file), read(c.certificate_file)});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const Credentials& c) {
  if (!wants_tls(c)) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = read(c.ca_file);
  options.pem_private_key = read(c.key_file);
  options.pem_cert_chain = read(c.certificate_file);
  return grpc::SslCredentials(options);
}

}  // namespace weir::distributed

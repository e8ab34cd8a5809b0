// libweir_grpc: TensorFlow's services on gRPC. It knows nothing of what the messages mean.
#include "distributed/transport.h"

#include "distributed/grpc/channel.h"
#include "distributed/grpc/listener.h"

namespace weir::distributed {
namespace {

class GrpcTransport final : public Transport {
 public:
  std::unique_ptr<Listener> listen(const ListenOptions& options, Handler handler) override {
    return listen_on_grpc(options, std::move(handler));
  }
  std::shared_ptr<Channel> connect(const std::string& address, const ConnectOptions& options) override {
    return make_grpc_channel(address, options, ends_);
  }

 private:
  const std::shared_ptr<CallEnds> ends_ = std::make_shared<CallEnds>();
};

}  // namespace
}  // namespace weir::distributed

extern "C" __attribute__((visibility("default"))) weir::distributed::Transport* weir_make_transport(
    int interface_version) {
  using namespace weir::distributed;
  return interface_version == kTransportInterface ? new GrpcTransport : nullptr;
}

// Both ends of the pipe: whatever arrives is a frame or an Error, whatever the frame contains is a call, a reply or an
// Error; and a call that decodes survives another round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "worker/codec.h"

namespace {

using namespace warpwright;

worker::FrameView Encode(const worker::Call& call) {
  return std::visit(Overload{[](const worker::InspectCall& c) { return worker::EncodeInspect(c.source); },
                             [](const auto& r) { return worker::EncodeCall(r); }},
                    call);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto frame = worker::DecodeFrame({reinterpret_cast<const char*>(data), size});
  if (!frame) return 0;
  (void)worker::DecodeInspection(*frame);
  (void)worker::DecodeRewrite(*frame);
  (void)worker::DecodeSplice(*frame);
  (void)worker::DecodeExecute(*frame);
  (void)worker::DecodeTime(*frame);
  (void)worker::DecodeLift(*frame);
  (void)worker::DecodeEquivalence(*frame);
  const auto call = worker::DecodeCall(*frame);
  if (!call) return 0;
  const auto bytes = worker::EncodeFrame(Encode(*call));
  if (!bytes) std::abort();
  const auto again = worker::DecodeFrame(*bytes);
  if (!again || !worker::DecodeCall(*again)) std::abort();
  return 0;
}

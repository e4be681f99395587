// Both ends of the pipe: whatever arrives is a frame or an Error, whatever the frame holds is a call, an answer or an Error; and a call
// that decodes survives another trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "worker/codec.h"

namespace {

using namespace warpwright;

FrameView Encode(const Call& call) {
  return std::visit(Overload{[](const InspectCall& c) { return EncodeInspect(c.source); }, [](const auto& r) { return EncodeCall(r); }}, call);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto frame = DecodeFrame({reinterpret_cast<const char*>(data), size});
  if (!frame) return 0;
  (void)DecodeInspection(*frame);
  (void)DecodeRewrite(*frame);
  (void)DecodeSplice(*frame);
  (void)DecodeExecute(*frame);
  (void)DecodeTime(*frame);
  const auto call = DecodeCall(*frame);
  if (!call) return 0;
  const auto bytes = EncodeFrame(Encode(*call));
  if (!bytes) std::abort();
  const auto again = DecodeFrame(*bytes);
  if (!again || !DecodeCall(*again)) std::abort();
  return 0;
}

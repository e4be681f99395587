#include "worker/machine_json.h"

#include "base/json_codec.h"
#include "core/machine_fields.h"

namespace warpwright::worker {

std::string EncodeMachine(const core::Machine& machine) { return base::EncodeJson(machine); }

Status DecodeMachine(std::string_view line, core::Machine& machine) {
  const auto add = [](const base::JsonSource& from, void* parts) {
    base::ReadJson(from, *static_cast<core::Machine*>(parts));
  };
  if (const Status read = base::DecodeJsonBy(add, &machine, line, {.bytes = size_t{1} << 20}, nullptr); !read)
    return Fail(ErrorCode::kCorrupt,
                "the worker's description of its machine does not decode: " + read.error().message);
  return {};
}

}  // namespace warpwright::worker

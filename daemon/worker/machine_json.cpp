#include "worker/machine_json.h"

#include "base/json_codec.h"
#include "core/machine_fields.h"

namespace warpwright {

std::string EncodeMachine(const Machine& machine) { return EncodeJson(machine); }

Status DecodeMachine(std::string_view line, Machine& machine) {
  const auto add = [](const JsonSource& from, void* parts) { ReadJson(from, *static_cast<Machine*>(parts)); };
  if (const Status read = DecodeJsonBy(add, &machine, line, {.bytes = size_t{1} << 20}, nullptr); !read)
    return Fail(ErrorCode::kCorrupt,
                "the worker's description of its machine does not decode: " + read.error().message);
  return {};
}

}  // namespace warpwright

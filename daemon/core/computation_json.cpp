#include "core/computation_json.h"

#include "base/json_codec.h"
#include "core/computation_fields.h"

namespace warpwright::core {

std::string EncodeComputation(const Computation& computation) { return base::EncodeJson(computation); }

Result<Computation> DecodeComputation(std::string_view text) {
  constexpr base::JsonLimits kLimits{.bytes = size_t{16} << 20, .depth = 16, .values = size_t{1} << 20, .text = 4096};
  WW_ASSIGN(Computation computation, base::DecodeJson<Computation>(text, kLimits));
  WW_TRY(Validate(computation));
  return computation;
}

}  // namespace warpwright::core

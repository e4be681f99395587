// Verdicts as JSON text, for the trajectory. Of a launch's source lines the hottest 64 are kept. Decoding is strict and
// never throws: the file may have been written by anybody.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/verdict.h"

namespace warpwright {

std::string EncodeVerdict(const Verdict& verdict);
Result<Verdict> DecodeVerdict(std::string_view json);

}  // namespace warpwright

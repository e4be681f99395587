// Values of floating-point buffers, and of any buffer as the manifest says. Private to judge/.
#pragma once

#include <filesystem>

#include "judge/input_target.h"
#include "judge/inputs.h"

namespace warpwright::judge {

// The manifest's distribution. kConfig: a file or a range that does not fit.
Status FillBase(const InputTarget& target, const std::filesystem::path& repository);
// Of a floating-point buffer.
Status FillVariant(const InputTarget& target, InputVariant variant, const std::filesystem::path& repository);

}  // namespace warpwright::judge

// What a run says of itself (Executed::notes) that others act on.
#pragma once

#include <string_view>

namespace warpwright::core {

// A spread sample spent its instructions before all of its blocks had ended.
inline constexpr std::string_view kCutShort = "sample: its instructions were spent";

}  // namespace warpwright::core

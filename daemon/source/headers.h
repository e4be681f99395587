// How a slice treats the include directive of a system header.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace warpwright::source {

struct HeaderUse {
  enum class Kind {
    kKeep,  // the compiler of that side finds it: the toolkit's device headers, the standard library for the host
    kReplacement,  // replaced by one of our headers
    kDrop,         // its content is built in (cuda_runtime.h) or does not apply to that side (stdio.h on the device)
    kUnknown,      // left out, with a note
  };
  Kind kind = Kind::kUnknown;
  std::string stand_in;  // "ww_device/cstdint.h"
};
HeaderUse DeviceHeader(std::string_view name);
HeaderUse HostHeader(std::string_view name);

// Our stand-in headers for the device, by include name.
const std::map<std::string, std::string>& StandIns();

}  // namespace warpwright::source

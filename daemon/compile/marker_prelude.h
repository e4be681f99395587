// What stands in front of a slice in a lifting build: a header that turns the mathematical library's functions into
// calls of markers (core/math_markers.h). The toolkit's headers that the slice includes come first, so that they keep
// the library's own functions.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace warpwright::compile {

inline constexpr std::string_view kMarkerPrelude = "warpwright_markers.h";

std::string MarkerPrelude(std::string_view text, const std::map<std::string, std::string>& headers);

}  // namespace warpwright::compile

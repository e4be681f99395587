// What a pull request says once it no longer holds as it stands, and the one comment in which warpwright says what it
// does with it from now on.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::report {

// In the one comment of warpwright about the state of a pull request, which is edited in place.
inline constexpr std::string_view kStatusMarker = "<!-- warpwright:status -->";
// `headline`: our own Markdown; `why`: untrusted text.
std::string RenderStatusComment(std::string_view headline, std::string_view why);

// The body with a warning on top and the figures folded below it; the controls stay. Repeating it replaces the warning.
// A body that is not ours stays as it is.
std::string MarkOutdated(std::string_view body, std::string_view why);
bool IsMarkedOutdated(std::string_view body);
// Without the gain, if it is the title that warpwright gave to the kernel's pull request.
std::string OutdatedTitle(std::string_view title);

}  // namespace warpwright::report

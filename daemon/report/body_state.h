// The hidden parts of a body: the state in its first line and the two boxes that users tick. Values are
// percent-encoded, so that none can end the comment.
#pragma once

#include <string>
#include <string_view>

#include "report/pull_request.h"

namespace warpwright::report {

inline constexpr std::string_view kControlsBegin = "\n---\n<!-- warpwright:controls -->";
std::string StateLine(const BodyState& state);
std::string Controls(const Explanation& explanation, const BodyState& state);

}  // namespace warpwright::report

// The style of a repository for what was added to its files: its own .clang-format, or where it has none the width of
// the file, applied to changed lines only.
#pragma once

#include <string>

#include "core/source_requests.h"

namespace warpwright::source {

// `text`, a later version of `original`, with the lines that differ formatted as the nearest .clang-format or
// _clang-format at or above the file says. Where there is none, lines that are wider than the file's widest are broken.
// Unchanged if no program clang-format is there, or it does not accept the file: style never keeps a change back.
std::string FormatChanges(const core::SourceRef& original, const std::string& text);

}  // namespace warpwright::source

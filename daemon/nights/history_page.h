// The history of nightly runs as plots: time against date, one panel for each machine and case. Pages and pictures are
// self-contained, follow the reader's choice of light or dark, and fit a phone. Names, subjects and messages in them
// come from repositories and are escaped.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "nights/history.h"

namespace warpwright::nights {

struct EntryHistory {
  std::string kernel, file;
  History history;
};

// All panels of the entry below each other, as a standalone picture: medians with their 95 % interval, vertical lines
// where code, driver or toolkit changed, regressions as a shaded period with their size. Empty if nothing was timed.
std::string RenderHistorySvg(const EntryHistory& entry);
std::string RenderHistoryHtml(const EntryHistory& entry);
// Links to the entries' pages, those with an open regression first.
std::string RenderHistoryIndex(const std::vector<EntryHistory>& entries);

// Writes index.html, <kernel>.html and <kernel>.svg to the folder.
Status WriteHistoryPages(const std::vector<EntryHistory>& entries, const std::filesystem::path& folder);

}  // namespace warpwright::nights

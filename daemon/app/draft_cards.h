// Methods that the library does not have, and that a language model described and carried out with a gain: drafts of
// their cards (skills/draft.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "memory/trajectory.h"
#include "skills/library.h"

namespace warpwright::app {

// Of a task that ended with an improvement; else none. Returns the files, in `folder`; one that is there stays.
Result<std::vector<std::filesystem::path>> WriteDraftCards(memory::Trajectory& trajectory,
                                                           const memory::TrajectoryView& view,
                                                           const skills::SkillLibrary& library,
                                                           const std::filesystem::path& folder);

}  // namespace warpwright::app

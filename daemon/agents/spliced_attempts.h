// A model's changes as candidates: each text is spliced into the user's file before anything else happens to it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agents/briefing.h"
#include "agents/edits.h"
#include "agents/optimizer.h"

namespace warpwright::agents {

// `changed` is the version that was shown as `entry`. A fault: an edit that cannot be applied, or one outside the
// entry, by the splicer's words.
Result<std::variant<std::vector<Attempt>, Fault>> SplicedAttempts(const Situation& at, const core::Candidate& changed,
                                                                  const core::EntryText& entry, const Edits& edits,
                                                                  const std::string& method, const std::string& summary,
                                                                  const core::Origin& origin);

}  // namespace warpwright::agents

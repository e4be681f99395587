// What the judge's verdict contains for a reviewer: which checks ran and what they mean, what was not tested, how close
// the outputs were, what must hold from now on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/verdict.h"
#include "report/explanation.h"

namespace warpwright::report {

// Every check of the judge (judge/judge.h), in its order. `notes` state why some did not run; for others it follows
// from the explanation's cases and device.
std::vector<CheckRow> CheckTable(const std::vector<core::CheckName>& ran, const std::vector<std::string>& notes,
                                 const Explanation& explanation);

// Sorts the notes of a verdict into `e`: agreements into their case, reviews, and what was not tested.
void SortNotes(const std::vector<std::string>& notes, Explanation& e);

// The preconditions of an accepted method, from its id and the transformation's message.
std::vector<std::string> Preconditions(std::string_view method, std::string_view message);

// Where every compared output has the original's bits: what was said of another order of sums becomes what may hold for
// other inputs.
void SaySameBits(Explanation& explanation);

}  // namespace warpwright::report

// Finds evidence that leads to a method: a small solver over the interval conditions of the policy and of the card.
// What it returns has been run through Match, so it is a proof; the loader refuses methods without one.
#pragma once

#include <optional>

#include "skills/match.h"

namespace warpwright::skills {

struct Witness {
  core::Evidence evidence;
  MatchContext context;
};
std::optional<Witness> FindWitness(const SkillLibrary& library, const MethodCard& card);

}  // namespace warpwright::skills

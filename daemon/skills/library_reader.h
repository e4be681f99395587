// The two file kinds of the skill library, read apart; library.cpp brings them together and checks references.
#pragma once

#include <utility>

#include "skills/library.h"

namespace warpwright::skills {

// Names of methods with the place where they stand, to be looked up once all cards are read.
using MethodReferences = std::vector<std::pair<config::YamlNode, std::string>>;

SkillPolicy ReadPolicy(const config::YamlNode& root, MethodReferences& references, config::Diagnostics& diagnostics);
// `stem` is the file's name without its ending, which the id must equal. `before` collects what the card wants to
// precede.
MethodCard ReadCard(const config::YamlNode& root, const std::string& stem, MethodReferences& references,
                    std::vector<std::string>& before, config::Diagnostics& diagnostics);

}  // namespace warpwright::skills

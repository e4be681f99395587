// Reads the two kinds of files of the skill library separately; library.cpp combines them and checks references.
#pragma once

#include <utility>

#include "skills/library.h"

namespace warpwright::skills {

// Names of methods with their locations, to be looked up once all cards are read.
using MethodReferences = std::vector<std::pair<config::YamlNode, std::string>>;

SkillPolicy ReadPolicy(const config::YamlNode& root, MethodReferences& references, config::Diagnostics& diagnostics);
// `stem` is the file's name without its extension, which the id must equal. `before` collects the methods that the card
// must precede.
MethodCard ReadCard(const config::YamlNode& root, const std::string& stem, MethodReferences& references,
                    std::vector<std::string>& before, config::Diagnostics& diagnostics);

}  // namespace warpwright::skills

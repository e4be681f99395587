// A version of an entry's file, identified by its content.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/agent_role.h"

namespace warpwright::core {

// Who wrote a version.
struct Origin {
  AgentRole agent = AgentRole::kOptimizer;
  std::string question;  // to a language model, by its id, which has the cost too (llm/question.h); empty: built in
  bool operator==(const Origin&) const = default;
};

struct Candidate {
  std::string hash;    // SHA-256 of text
  std::string text;    // the whole file
  std::string parent;  // hash of the text that it was derived from; empty for the original
  std::string method;  // skill id; "original"
  std::map<std::string, std::string> parameters;
  std::string summary;                // what was done, one line
  std::optional<Origin> origin = {};  // none: the original
};

}  // namespace warpwright::core

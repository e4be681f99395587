// A method that is not in the library, described by a language model and carried out with a gain, as a draft of its
// card. A person reads it, corrects it, and accepts it into a folder of skills.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "skills/library.h"

namespace warpwright::skills {

struct MethodDraft {
  std::string id;                        // in snake case
  std::string why;                       // by the model's account
  std::string instructions;              // as they were carried out
  std::string added;                     // the code that was new in the version
  std::string operation;                 // of the kernel: "matmul"
  std::vector<ExpectedChange> expected;  // that came true
  double gain = 1;
  std::string origin;  // "described by claude-x, carried out for conv2d, modelled on sim:h200"
};

// As a card in YAML, complete: what nobody knows yet is said as such. All texts are data in it, whatever they hold.
std::string DraftCard(const MethodDraft& draft);

// Adds the card to a folder of skills, which is made of `library` if there is none, with a call in its policy's
// fallback; returns the folder's library. If that is not sound with it, the folder stays as it was, and the Error says
// why.
Result<SkillLibrary> AcceptDraft(const std::filesystem::path& card, const std::filesystem::path& folder);

}  // namespace warpwright::skills

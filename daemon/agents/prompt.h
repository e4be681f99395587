// Prompts are files, config/prompts/<name>.md. A file is a sequence of parts, each after a line that says whose it is:
//
//   <!-- system -->           who answers, and by which rules
//   <!-- user, kept -->       the case at hand; "kept": worth being cached by the provider up to here
//
// {{key}} stands for a value. Templates are strict: a key without a value and a value without a key are errors. Values
// are put in as they are and not searched for keys.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/question.h"

namespace warpwright::agents {

struct Prompt {
  std::vector<llm::Part> system, user;
};
using PromptValues = std::map<std::string, std::string, std::less<>>;

Result<Prompt> FillPrompt(std::string_view text, const PromptValues& values);
// Of the file that the program was built with; that it exists and fits is a matter of tests.
Result<Prompt> MakePrompt(std::string_view name, const PromptValues& values);

}  // namespace warpwright::agents

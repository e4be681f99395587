#include "cli/draft_workflow.h"

#include <map>
#include <string_view>

#include "cli/version.h"

namespace warpwright::embedded {
const std::map<std::string_view, std::string_view>& Workflows();
}

namespace warpwright {
namespace {

void ReplaceAll(std::string& text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

// A branch may be called `true` or `a, b`: in quotation marks it stays a name. What needs more than those is not a name in YAML's eyes.
std::string Quoted(const std::string& name) {
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

std::string UnpinnedAction() { return std::string("warpwright/warpwright@v") + kVersion + " # pin it to the commit of a release"; }

std::string DraftWorkflow(const std::string& branch) {
  std::string text(embedded::Workflows().at("optimize.yml"));
  ReplaceAll(text, "branches: [main]", "branches: [" + (branch == "main" ? branch : Quoted(branch)) + "]");
  if (*kActionReference != 0) ReplaceAll(text, UnpinnedAction(), kActionReference);
  return text;
}

}  // namespace warpwright

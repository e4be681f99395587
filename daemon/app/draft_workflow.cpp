#include "app/draft_workflow.h"

#include <map>
#include <string_view>

#include "config/yaml_text.h"

namespace warpwright::app::embedded {
const std::map<std::string_view, std::string_view>& Workflows();
}

namespace warpwright::app {
namespace {

void ReplaceAll(std::string& text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::string UnpinnedAction(std::string_view version) {
  return "warpwright/warpwright@v" + std::string(version) + " # pin it to the commit of a release";
}

std::string DraftWorkflow(const WorkflowDraft& draft) {
  std::string text(embedded::Workflows().at("optimize.yml"));
  // A branch may be named `true` or `a, b`: quoted, it remains a name.
  ReplaceAll(text, "branches: [main]",
             "branches: [" + (draft.branch == "main" ? draft.branch : config::QuotedYaml(draft.branch)) + "]");
  if (!draft.action.empty()) ReplaceAll(text, UnpinnedAction(draft.version), draft.action);
  return text;
}

}  // namespace warpwright::app

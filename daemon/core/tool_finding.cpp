#include "core/tool_finding.h"

#include <algorithm>

namespace warpwright::core {

std::optional<ToolFinding> FirstUnheard(const std::set<RequiredTool>& required,
                                        const std::vector<ToolFinding>& findings) {
  for (const RequiredTool tool : required) {
    const auto is_of_tool = [&](const ToolFinding& finding) { return finding.tool.starts_with(Name(tool)); };
    const auto silent = std::find_if(findings.begin(), findings.end(), [&](const ToolFinding& finding) {
      return is_of_tool(finding) && finding.outcome == ToolFinding::Outcome::kNotRun;
    });
    if (silent == findings.end() && std::any_of(findings.begin(), findings.end(), is_of_tool)) continue;
    return ToolFinding{
        std::string(Name(tool)), ToolFinding::Outcome::kNotRun,
        "the manifest requires it, and it did not run: " +
            (silent != findings.end() ? silent->message : std::string("it is not asked on this device"))};
  }
  return std::nullopt;
}

}  // namespace warpwright::core

#include "config/case_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/name_check.h"
#include "config/scalar_reader.h"

namespace warpwright::config {

namespace {

constexpr size_t kMaxCases = 1000;
constexpr std::string_view kCaseKeys[] = {"name", "weight", "on"};
constexpr double kNoWeight = -1;  // until SetDefaultWeights

}  // namespace

bool IsCaseKey(std::string_view name) {
  return std::find(std::begin(kCaseKeys), std::end(kCaseKeys), name) != std::end(kCaseKeys);
}

std::vector<core::Case> CaseReader::Read(const YamlNode& node) {
  std::vector<core::Case> cases;
  if (!node.IsList() || node.items().empty()) {
    diagnostics_.Add(node, "'cases' must be a list with at least one case", "write it as [{N: 1024, C: 768}]");
    return cases;
  }
  if (node.items().size() > kMaxCases) {
    diagnostics_.Add(node, fmt::format("more than {} cases", kMaxCases), "keep the sizes that matter");
    return cases;
  }
  std::set<std::string> names;
  for (const YamlNode& item : node.items()) {
    core::Case c = ReadCase(item);
    if (!names.insert(c.name).second)
      diagnostics_.Add(item, fmt::format("a second case is called '{}'", c.name),
                       "give it its own 'name', or remove it");
    cases.push_back(std::move(c));
  }
  SetDefaultWeights(node, cases);
  return cases;
}

// A case for the simulator alone exists to be verified completely; unless the manifest gives it a weight, its time
// does not count along with the cases whose run time matters to users.
void CaseReader::SetDefaultWeights(const YamlNode& node, std::vector<core::Case>& cases) {
  const auto only_simulated = [](const core::Case& c) {
    return c.on == std::set<core::DeviceKind>{core::DeviceKind::kSim};
  };
  const bool all = std::all_of(cases.begin(), cases.end(), only_simulated);
  double sum = 0;
  for (core::Case& c : cases) {
    if (c.weight == kNoWeight) c.weight = only_simulated(c) && !all ? 0 : 1;
    sum += c.weight;
  }
  if (sum == 0)
    diagnostics_.Add(node, "every case has the weight 0", "give the cases whose time matters a weight above 0");
}

core::Case CaseReader::ReadCase(const YamlNode& node) {
  core::Case c;
  c.line = node.line();
  if (!node.IsMap()) {
    diagnostics_.Add(node, "a case must be a map", "write it as {N: 1024, C: 768}");
    return c;
  }
  CheckKeys(node);
  std::string automatic;
  for (const core::Argument& argument : arguments_) {
    const auto* scalar = std::get_if<core::ScalarArgument>(&argument.kind);
    if (!scalar) continue;
    std::optional<core::ScalarValue> value = scalar->value;
    if (const YamlNode* given = node.Find(argument.name)) {
      value = ReadScalarValue(*given, argument.name, scalar->dtype, diagnostics_);
      automatic += (automatic.empty() ? "" : ",") + argument.name + "=" + given->text();
    } else if (!value) {
      diagnostics_.Add(node, fmt::format("the case gives no value for '{}'", argument.name),
                       fmt::format("add '{}: ...' to the case, or 'value: ...' to the argument", argument.name));
    }
    if (value) c.scalars[argument.name] = *value;
  }
  ReadProperties(node, automatic.empty() ? "default" : automatic, c);
  return c;
}

void CaseReader::CheckKeys(const YamlNode& node) {
  std::vector<std::string_view> known(std::begin(kCaseKeys), std::end(kCaseKeys));
  for (const core::Argument& argument : arguments_)
    if (std::holds_alternative<core::ScalarArgument>(argument.kind)) known.push_back(argument.name);
  for (const auto& [key, value] : node.entries())
    if (std::find(known.begin(), known.end(), key.text()) == known.end()) {
      Error unknown = UnknownName(key, "scalar argument or key", key.text(), known);
      unknown.remedy += "; or declare it as a scalar under 'args', if the entry takes it";
      diagnostics_.Add(std::move(unknown));
    }
}

void CaseReader::ReadProperties(const YamlNode& node, const std::string& automatic, core::Case& c) {
  const YamlNode* name = node.Find("name");
  c.name = name ? diagnostics_.Take(name->AsString()).value_or("") : automatic;
  if (!IsPlainName(c.name, "_.-+=,", 200))
    diagnostics_.Add(name ? *name : node, fmt::format("'{}' cannot be a case's name", c.name.substr(0, 100)),
                     "use letters, digits and _ . - + = , in 'name'; it becomes part of a file name");
  c.weight = kNoWeight;
  if (const YamlNode* weight = node.Find("weight")) {
    c.weight = diagnostics_.Take(weight->AsDouble()).value_or(1);
    if (!(c.weight >= 0) || c.weight > 1e9) {
      diagnostics_.Add(
          *weight,
          fmt::format("the weight is {}; it must be from 0 (verified, its time does not count) to 1e9", c.weight),
          "write 1, or more for a case that matters more");
      c.weight = 1;
    }
  }
  const YamlNode* on = node.Find("on");
  if (!on) return;
  c.on.clear();
  if (!on->IsList() || on->items().empty())
    return diagnostics_.Add(*on, "'on' must list devices", "write it as [sim], [cuda] or [sim, cuda]");
  constexpr std::string_view kDevices[] = {"sim", "cuda"};
  for (const YamlNode& item : on->items()) {
    if (item.text() != "sim" && item.text() != "cuda")
      diagnostics_.Add(UnknownName(item, "device", item.text(), kDevices));
    else c.on.insert(item.text() == "sim" ? core::DeviceKind::kSim : core::DeviceKind::kCuda);
  }
}

}  // namespace warpwright::config

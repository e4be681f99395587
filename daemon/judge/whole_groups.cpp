#include "judge/whole_groups.h"

#include <algorithm>
#include <regex>
#include <set>
#include <variant>

#include "judge/size_relations.h"

namespace warpwright::judge {
namespace {

// What inputs' extents divide a size by: "groups" of "C / groups".
std::set<std::string> NumbersOfGroups(const core::KernelSpec& spec) {
  static const std::regex kQuotient(R"(\b[A-Za-z_]\w* / ([A-Za-z_]\w*))");
  std::set<std::string> names;
  for (const core::Argument& argument : spec.args) {
    const auto* buffer = std::get_if<core::BufferArgument>(&argument.kind);
    if (buffer == nullptr || buffer->role != core::Role::kIn) continue;
    for (const core::Expression& extent : buffer->shape) {
      const std::string& text = extent.text();
      for (std::sregex_iterator found(text.begin(), text.end(), kQuotient), end; found != end; ++found)
        names.insert((*found)[1]);
    }
  }
  return names;
}

}  // namespace

WholeGroups::WholeGroups(const core::KernelSpec& spec) {
  for (const std::string& groups : NumbersOfGroups(spec)) {
    const std::vector<int64_t> numbers = ValuesInCases(spec, groups);
    const bool in_all = !numbers.empty() && numbers.size() == spec.cases.size() &&
                        std::all_of(numbers.begin(), numbers.end(), [](int64_t n) { return n > 0; });
    // That all is one group says nothing.
    if (!in_all || std::all_of(numbers.begin(), numbers.end(), [](int64_t n) { return n == 1; })) continue;
    for (const core::Argument& argument : spec.args) {
      const std::vector<int64_t> values = ValuesInCases(spec, argument.name);
      if (argument.name == groups || values.size() != numbers.size()) continue;
      bool whole = true;
      for (size_t j = 0; j < values.size(); ++j) whole = whole && values[j] % numbers[j] == 0;
      if (whole) of_.emplace_back(argument.name, groups);
    }
  }
}

void WholeGroups::Keep(core::Case& c) const {
  for (const auto& [name, groups] : of_) {
    const int64_t number = std::get<int64_t>(c.scalars.at(groups));
    int64_t& value = std::get<int64_t>(c.scalars.at(name));
    if (number > 1) value = (value + number - 1) / number * number;
  }
}

}  // namespace warpwright::judge

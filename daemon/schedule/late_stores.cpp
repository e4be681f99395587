#include "schedule/late_stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "schedule/dimensions.h"

namespace warpwright::schedule {
namespace {

bool IsVariable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

}  // namespace

void LateStores::Open(Lines& lines, const core::Stage& output, const std::string& condition) {
  conditional_ = !condition.empty();
  if (several_) {
    type_ = ElementTypeOf(problem_, Access{output.name, output.dtype, true, std::nullopt});
    stores_.push_back({names_.TakeOf({output.name + "_new", output.name + "_result"}), "", condition, ""});
    if (conditional_) lines.Add(fmt::format("{} {};", type_, stores_.back().value));
  }
  if (conditional_) lines.Open(fmt::format("if ({})", condition));
}

void LateStores::Set(Lines& lines, const std::string& element, const std::string& value, const std::string& only_if) {
  if (!several_) {
    const std::string where = only_if.empty() ? "" : fmt::format("if ({}) ", only_if);
    return lines.Add(fmt::format("{}{} = {};", where, element, value));
  }
  stores_.back().element = element;
  stores_.back().only_if = only_if;
  if (!conditional_ && IsVariable(value)) {
    names_.Release(stores_.back().value);
    stores_.back().value = value;
    stores_.back().is_own = false;
    return;
  }
  lines.Add(fmt::format("{}{} = {};", conditional_ ? "" : "const " + type_ + " ", stores_.back().value, value));
}

void LateStores::Else(Lines& lines, const std::string& condition) {
  lines.Else(fmt::format("else if ({})", condition));
  if (several_)
    stores_.back().condition =
        fmt::format("({} || {})", Parenthesized(stores_.back().condition), Parenthesized(condition));
}

void LateStores::Close(Lines& lines) {
  if (conditional_) lines.Close();
}

void LateStores::Write(Lines& lines) {
  for (const Store& store : stores_) {
    std::string condition = store.only_if;
    if (!store.condition.empty()) condition += (condition.empty() ? "" : " && ") + store.condition;
    const std::string where = condition.empty() ? "" : fmt::format("if ({}) ", condition);
    lines.Add(fmt::format("{}{} = {};", where, store.element, store.value));
    if (store.is_own) names_.Release(store.value);
  }
  stores_.clear();
}

}  // namespace warpwright::schedule

#include "rewrite/transform.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "rewrite/transforms.h"
#include "source/ast.h"

namespace warpwright::rewrite {

const std::vector<Transform>& Transforms() {
#define WW_CALL(Name) Name(),
  static const std::vector<Transform> transforms = {WW_TRANSFORMS(WW_CALL)};
#undef WW_CALL
  return transforms;
}

const Transform* FindTransform(std::string_view id) {
  const auto& all = Transforms();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Transform& t) { return t.id == id; });
  return found == all.end() ? nullptr : &*found;
}

std::string TextParameter(const core::RewriteRequest& request, std::string_view name) {
  return request.parameters.at(std::string(name));
}

int IntegerParameter(const core::RewriteRequest& request, std::string_view name) {
  const std::string text = TextParameter(request, name);
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Result<core::RewriteOutcome> ApplyTransform(const core::RewriteRequest& request) {
  const Transform* transform = FindTransform(request.transform);
  if (transform == nullptr) return Fail(ErrorCode::kUsage, fmt::format("no transformation \"{}\"", request.transform));
  core::RewriteRequest complete = request;
  for (const auto& [name, value] : request.parameters) {
    const auto declared = std::find_if(transform->parameters.begin(), transform->parameters.end(),
                                       [&n = name](const TransformParameter& p) { return p.name == n; });
    if (declared == transform->parameters.end())
      return Fail(ErrorCode::kUsage, fmt::format("{} has no parameter \"{}\"", transform->id, name));
    if (std::find(declared->values.begin(), declared->values.end(), value) == declared->values.end())
      return Fail(ErrorCode::kUsage, fmt::format("{}: {} cannot be \"{}\"", transform->id, name, value),
                  fmt::format("one of {}", fmt::join(declared->values, ", ")));
  }
  for (const TransformParameter& parameter : transform->parameters)
    complete.parameters.try_emplace(std::string(parameter.name), parameter.values.front());
  WW_ASSIGN(const source::Ast ast, source::Ast::Parse(complete.source));
  return transform->apply(ast, complete);
}

}  // namespace warpwright::rewrite

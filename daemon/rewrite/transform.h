// Built-in transformations: each is a function Source x parameters -> Source on the AST of the whole file, which either
// applies completely or refuses with a reason. The result is an ordinary candidate: the judge decides whether it is
// correct and faster.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/source_requests.h"

namespace warpwright::source {
class Ast;  // source/ast.h
}

namespace warpwright::rewrite {

struct TransformParameter {
  std::string_view name;                 // "block_size"
  std::vector<std::string_view> values;  // worth trying, the default first
};

struct Transform {
  std::string_view id;  // "row_parallel"; method cards refer to it
  std::vector<TransformParameter> parameters;
  core::RewriteOutcome (*apply)(const source::Ast& ast, const core::RewriteRequest& request);
};

// The transformations in transforms/, one per file; the method cards in skills/ that name them describe what they are
// for.
const std::vector<Transform>& Transforms();
const Transform* FindTransform(std::string_view id);

// Parses the source and applies the transformation. Unknown ids and parameter values are Errors (kUsage).
Result<core::RewriteOutcome> ApplyTransform(const core::RewriteRequest& request);

}  // namespace warpwright::rewrite

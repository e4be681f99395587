// Built-in transformations: each is a function Source x parameters -> Source on the AST of the whole file, which either
// applies completely or refuses with a reason. What comes out is an ordinary candidate: the judge decides whether it is
// right and faster.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/evaluator.h"

namespace warpwright {

class Ast;  // source/ast.h

struct TransformParameter {
  std::string_view name;                 // "block_size"
  std::vector<std::string_view> values;  // worth trying, the default first
};

struct Transform {
  std::string_view id;  // "row_parallel"; method cards name it
  std::vector<TransformParameter> parameters;
  RewriteOutcome (*apply)(const Ast& ast, const RewriteRequest& request);
};

// Those of transforms/, one a file; the method cards of skills/ that name them say what they are for.
const std::vector<Transform>& Transforms();
const Transform* FindTransform(std::string_view id);

// Parses the source and applies the transformation. Unknown ids and parameter values are Errors (kUsage).
Result<RewriteOutcome> ApplyTransform(const RewriteRequest& request);

}  // namespace warpwright

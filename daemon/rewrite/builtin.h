// The built-in transformations, one function per file. Parameters are complete and valid when these are called.
#pragma once

#include <string_view>

#include "core/evaluator.h"

namespace warpwright {

class Ast;

RewriteOutcome ApplyLaunchRetune(const Ast& ast, const RewriteRequest& request);
RewriteOutcome ApplyRestrictReadonly(const Ast& ast, const RewriteRequest& request);
RewriteOutcome ApplyVectorizeElementwise(const Ast& ast, const RewriteRequest& request);
RewriteOutcome ApplyUnrollAccumulators(const Ast& ast, const RewriteRequest& request);
RewriteOutcome ApplyTransposeTile(const Ast& ast, const RewriteRequest& request);
RewriteOutcome ApplyHistogramPrivatize(const Ast& ast, const RewriteRequest& request);
RewriteOutcome ApplyRowParallel(const Ast& ast, const RewriteRequest& request);
RewriteOutcome ApplyTileMatmul(const Ast& ast, const RewriteRequest& request);

// The value of a parameter that the transformation declares.
int IntegerParameter(const RewriteRequest& request, std::string_view name);
std::string TextParameter(const RewriteRequest& request, std::string_view name);

}  // namespace warpwright

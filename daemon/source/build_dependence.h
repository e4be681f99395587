// Where a file's text depends on how it is built: on the architecture, the compiler, the date. What another build makes
// of it, nobody verified, so a candidate may not do so where its original does not.
#pragma once

#include <map>
#include <string>

#include "core/evaluator.h"

namespace warpwright::source {

class Ast;

// Of the main file: "build: __CUDA_ARCH__" for each macro that tells builds apart, also one whose name is pasted
// together; and "build: text <hash>" for each stretch that the preprocessor leaves out. The hash is of its tokens:
// equal stretches of two files have equal names.
std::map<std::string, core::PrecisionUse> FindBuildDependence(const Ast& ast);

}  // namespace warpwright::source

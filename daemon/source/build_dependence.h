// Where a file's text depends on how it is built: on the architecture, the compiler, the date. The result of a
// different build is unverified, so a candidate must not have dependences that its original does not have.
#pragma once

#include <map>
#include <string>

#include "core/execution.h"

namespace warpwright::source {

class Ast;

// Of the main file: "build: __CUDA_ARCH__" for each macro that distinguishes builds, also one whose name is pasted
// together; and "build: text <hash>" for each region that the preprocessor skips. The hash is of its tokens: equal
// regions of two files have equal names.
std::map<std::string, core::PrecisionUse> FindBuildDependence(const Ast& ast);

}  // namespace warpwright::source

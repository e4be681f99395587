// Where a file's text depends on how it is built: on the architecture, the compiler, the date. The result of a
// different build is unverified, so a candidate must not have dependences that its original does not have.
#pragma once

#include <map>
#include <string>

#include "core/execution.h"

namespace warpwright::source {

class Ast;
struct ReachableUnits;
struct SourceUnits;

// Of the main file: "build: NAME" for each name that another build may define otherwise: reserved ones (what compilers
// and libraries define; also one that is pasted together), and those that a condition asks for before the file has
// defined them; and "build: text <hash>" for each region that the preprocessor skips. The hash is of its tokens: equal
// regions of two files have equal names. What the project's own build defines for its one architecture is no
// dependence, nor is it that a kernel stops at once in other builds: that gives an error, and no other result.
core::CodeUses FindBuildDependence(const Ast& ast);

// "build: text <hash>" for each declaration of the main file that no slice contains and that acts by being there: a
// variable of the host that is initialized when the program starts, a function that the whole program sees, a
// declaration with attributes, inline assembly.
core::CodeUses FindUnreachedEffects(const SourceUnits& units, const ReachableUnits& reach, const std::string& main);

}  // namespace warpwright::source

// The world that a launcher may know: functions that compute, that print, and the CUDA runtime that the recorder
// answers for, but for what its caller alone decides. What else host code refers to could tell a recording from a real
// call (the environment, the clock, the program's name, files, limits, random numbers), act on the process (signals,
// threads, sockets), or take the place of what the recorder uses; none of it is needed to compute launches.
//
// It is an allow-list, and decided on the compiled object: what the linker would have to resolve cannot be hidden in a
// macro, a template or a string. What leaves no symbol (inline assembly, builtins, attributes, thread-local state) is
// read from the tokens of the host slice.
//
// Uses are reported by name; whoever judges refuses those that the original does not have.
#pragma once

#include <map>
#include <string>

#include "core/execution.h"
#include "source/host_object.h"
#include "source/slice.h"

namespace warpwright::source {

// Of CodeUseKind::kHost, with the line in the user's file where the name occurs, else of the entry. `recorder`:
// what the objects define that the program is linked with.
core::CodeUses FindForeignUses(const HostObject& object, const std::set<std::string>& recorder, const Slices& slices);

// The use, shown as `text`, at the first place of `token` in the host slice, else at the entry.
core::FoundUse PlaceUse(core::CodeUse use, std::string text, const std::string& token, const Slices& slices);
// The symbols by which other files refer to the entry, of CodeUseKind::kEntry, and with the types of its
// parameters where the name does not tell them.
core::CodeUses EntrySymbols(const HostObject& object, const Slices& slices);

}  // namespace warpwright::source

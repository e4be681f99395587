// The functions of the mathematical library that a lifting build leaves as calls: compile/ declares them under these
// names in front of a slice, sim/ executes the calls, lift/ reads them. In an ordinary build they are inlined, and what
// is left are polynomials.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/computation.h"

namespace warpwright::core {

struct MathMarker {
  std::string_view name;  // of the double form; "exp" stands for expf too
  Function function = Function::kExp;
  uint8_t arity = 1;
};
std::span<const MathMarker> MathMarkers();

struct MarkerCall {
  const MathMarker* marker = nullptr;  // nullptr: no marker's symbol
  bool single = false;                 // float, else double
};
// Of the symbol that a lifting build calls: "ww_call_expf".
MarkerCall FindMarkerCall(std::string_view symbol);

// The host's library. Of one argument: `b` is ignored. Only functions of MathMarkers().
double CallFunction(Function function, double a, double b);

}  // namespace warpwright::core

// Stages put into those that read them, for reading: a Computation of fewer, longer formulas.
#pragma once

#include "core/computation.h"

namespace warpwright::core {

// A stage goes into its readers if it is read at one place, or is as small as a negation; unless a reader would get
// more than `node_limit` nodes, the stage has several parts, or a position cannot be composed. Stages that nobody reads
// go.
Computation Inlined(const Computation& computation, size_t node_limit = 48);

// For computing: every intermediate without reductions goes into all of its readers, however many they are. Reductions
// stay stages of their own.
Computation WithoutMaps(const Computation& computation, size_t node_limit = 512);

}  // namespace warpwright::core

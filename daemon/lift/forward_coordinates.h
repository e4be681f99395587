// Which way the coordinates of intermediates run is nobody's wish: cells are numbered by what they read, and a window
// is read from its last tap as well as from its first.
#pragma once

#include "core/computation.h"

namespace warpwright::lift {

// Turned round, where every reader reads an intermediate backwards: "t[i0]" of the rows from the first to the last in
// place of "t[H-i0-1]" of the rows from the last to the first.
core::Computation WithForwardCoordinates(core::Computation computation);

}  // namespace warpwright::lift

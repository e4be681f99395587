// What an original with integer results makes of NaN. Among unordered values the winner of a comparison depends on the
// order of the scan, so that an index is no matter of NaN: there versions may differ. But a bin or a code is, where NaN
// counts as some number wherever it stands ("outside of all bins"). Which it is, is found out by trying the original.
// Private to judge/.
#pragma once

#include "judge/judge_state.h"

namespace warpwright::judge {

// Whether some number in the place of a NaN, the same for the first, the middle and the last element of each buffer of
// floats, gives the original's integer results. False where it has none.
Result<bool> CountsNanAsNumber(Judge::State& state);

}  // namespace warpwright::judge

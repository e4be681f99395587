// Values of integer buffers, which are often indices: within their range and, as variants, beyond. Private to judge/.
#pragma once

#include "base/random.h"
#include "judge/input_target.h"
#include "judge/inputs.h"

namespace warpwright::judge {

// kConfig: the manifest's range is empty at these sizes.
Status FillIntegerRange(const InputTarget& target, const base::CounterRandom& random);
// kIntegerEqual, kIntegerSorted, kIntegerBeyond.
Status FillIntegerVariant(const InputTarget& target, InputVariant variant, const base::CounterRandom& random);

}  // namespace warpwright::judge

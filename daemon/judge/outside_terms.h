// What the terms of sums are beyond the bounds of what they read, in the padding of a convolution: left out, or 0 times
// the other factors (core::Guard::outside). For finite numbers both are the same, so that the form does not say. Runs
// with few infinite weights do: a term of 0 makes no number of its sum, one that is left out leaves it finite.
#pragma once

#include "base/result.h"
#include "core/evaluator.h"
#include "core/lifting.h"

namespace warpwright::judge {

// Notes it in the guards of `lifted`, the answer to `request`, where sums are seen to do the one or the other at the
// first shapes of the request. What is not seen stays unknown: a later stage may turn what is no number into one.
Status TellOutsideTerms(const core::LiftRequest& request, core::Evaluator& worker, core::Lifted& lifted);

}  // namespace warpwright::judge

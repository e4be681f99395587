// The launch plan of an entry that is itself a kernel. Private to source/.
#pragma once

#include "base/result.h"
#include "source/record.h"
#include "source/slice.h"

namespace warpwright::source {

// A __global__ function as the entry: the manifest gives its launch, and nothing has to run.
Result<RecordOutcome> PlanOfKernel(const Slices& slices, const RecordRequest& request);

}  // namespace warpwright::source

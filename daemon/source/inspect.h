// Entries and kernels of a .cu file, their signatures, the likely roles of their parameters, and why an entry cannot be
// used.
#pragma once

#include "base/result.h"
#include "core/inspection.h"
#include "core/source_requests.h"

namespace warpwright::source {

Result<core::Inspection> InspectSource(const core::SourceRef& source);

}  // namespace warpwright::source

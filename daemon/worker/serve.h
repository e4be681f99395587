// The worker's main loop: says hello, reads calls, announces stages, answers, until the pipe closes.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "worker/service.h"
#include "worker/shared_area.h"

namespace warpwright::worker {

// `hello`: what the supervisor sees first; see Supervisor::hello().
Status Serve(Service& service, int in, int out, const std::string& hello, std::optional<WorkerAreas> areas);

}  // namespace warpwright::worker

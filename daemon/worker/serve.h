// The worker's main loop: sends its hello, reads calls, announces stages, replies, until the pipe closes.
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

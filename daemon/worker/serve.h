// The worker's main loop: says hello, reads calls, announces stages, answers, until the pipe closes.
#pragma once

#include "base/result.h"
#include "worker/service.h"

namespace warpwright {

// `hello`: what the supervisor sees first; see Supervisor::hello().
Status Serve(Service& service, int in, int out, const std::string& hello);

}  // namespace warpwright

// The worker's main loop: reads calls, answers them, until the pipe closes.
#pragma once

#include "base/result.h"
#include "worker/service.h"

namespace warpwright {

Status Serve(Service& service, int in, int out);

}  // namespace warpwright

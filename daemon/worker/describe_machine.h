// The worker's side of `warpwright doctor`: looks at everything that it needs of its machine and tells part by part. Runs outside of the
// sandbox, so that what is missing is missing from the machine.
#pragma once

#include <functional>
#include <string>

#include "core/machine.h"

namespace warpwright {

// `device`: "cuda", "cuda:1"; anything else: no GPU is looked at.
void DescribeMachine(const std::string& device, const std::function<void(const Machine&)>& tell);

}  // namespace warpwright

// Casts that writers make because an index may be narrow, where it is not.
#pragma once

#include <string>

namespace warpwright::schedule {

// Without "static_cast<long long>(row)" in kernels that declare `row` as long long and as nothing else.
std::string WithoutNeedlessCasts(const std::string& kernels);

}  // namespace warpwright::schedule

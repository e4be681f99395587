#pragma once
#include "ww_device/host.h"
namespace std {
using ::memcpy;
using ::memset;
}  // namespace std

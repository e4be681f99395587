// printf is built in.
#pragma once
#include "ww_device/host.h"
namespace std {
using ::printf;
}

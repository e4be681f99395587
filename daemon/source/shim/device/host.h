// In place of headers that mean nothing to device code: only the namespace that "using namespace std" needs.
#pragma once
#include "ww_device/cfloat.h"
#include "ww_device/climits.h"
#include "ww_device/cmath.h"
#include "ww_device/cstdint.h"
namespace std {}

#pragma once
#ifndef assert
#include <cuda/std/cassert>
#endif

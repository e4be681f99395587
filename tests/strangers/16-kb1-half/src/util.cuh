#pragma once
#include <cuda_fp16.h>
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

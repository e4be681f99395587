// The functions of a Computation in float64, and how far an implementation in a narrower format may be off.
#pragma once

#include <cstdint>

#include "core/computation.h"

namespace warpwright::core {

// `y` only counts for functions of two arguments. Functions from Function::kFirstInteger on have no real value: NaN.
double Apply(Function function, double x, double y = 0);
// In 64 bits, wrapping. Division by zero and shifts by 64 and more give 0.
int64_t ApplyInteger(Function function, int64_t x, int64_t y = 0);
// For loops over many arguments; null for functions of two arguments.
using RealFunction = double (*)(double);
RealFunction FunctionOf(Function function);

// Maximum error in units in the last place, beyond correct rounding, of CUDA's f32 functions without fast-math: CUDA
// C++ Programming Guide, "Mathematical Functions Appendix", single precision. lgamma: outside -10 .. -2.3.
double UlpsOf(Function function);

// |f(x + d) - f(x)| for all |d| <= `error`, infinite where it has no bound. From the ends of the interval where f is
// monotone, else from a Lipschitz constant; lgamma and tgamma, which are neither, to first order.
double Spread(Function function, double x, double error);
double Spread(Function function, double x, double y, double x_error, double y_error);

}  // namespace warpwright::core

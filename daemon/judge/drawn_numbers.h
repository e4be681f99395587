// Random numbers of the distributions that inputs are drawn from. Only +, -, *, / and sqrt form them (no libm), so that
// no C library version changes a recorded reference. Private to judge/.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"

namespace warpwright::judge {

// e^x for |x| < 700.
double Exp(double x);
double NormalAt(const base::CounterRandom& random, uint64_t i);
// NormalAt of `first`, `first` + 1, ...: the same bits, in a fraction of the time.
void NormalsAt(const base::CounterRandom& random, uint64_t first, std::span<double> values);
double SignAt(const base::CounterRandom& random, uint64_t i);
double ParetoAt(const base::CounterRandom& random, uint64_t i, double alpha);

}  // namespace warpwright::judge

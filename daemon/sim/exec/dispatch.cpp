#include "sim/exec/dispatch.h"

#include "sim/exec/math_call.h"
#include "sim/exec/mbarrier.h"
#include "sim/exec/taint.h"

#include <cpuid.h>

namespace warpwright::sim {
namespace {

// clang 14 does not know the name "f16c" in __builtin_cpu_supports.
bool HasF16C() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

}  // namespace

namespace v3 {
HandlerPair Select(const Instruction& in);
HandlerPair GuardedHandlers();
void Execute(Context& c, const Instruction* i);
}  // namespace v3

bool CpuIsSupported() {
  static const bool supported =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16C() && __builtin_cpu_supports("bmi2");
  return supported;
}

bool BindHandlers(Instruction& in) {
  if (!CpuIsSupported()) return true;
  const HandlerPair pair = in.op == Op::kMathCall   ? SelectMathCall()
                           : in.op == Op::kMbarrier ? SelectMbarrier(in)
                                                    : v3::Select(in);
  if (!pair.masked) return false;
  in.body[0] = pair.masked;
  in.body[1] = pair.full ? pair.full : pair.masked;
  if (in.guard != kNoOperand && in.op != Op::kExit) {  // which takes its guard itself
    const HandlerPair guarded = v3::GuardedHandlers();
    in.run[0] = guarded.masked;
    in.run[1] = guarded.full;
  } else {
    in.run[0] = in.body[0];
    in.run[1] = in.body[1];
  }
  return true;
}

void Execute(Context& c, const Instruction* i) {
  while (i) {
    if (c.warp->tainted) {
      i = ExecuteTainted(c, i);
      continue;
    }
    v3::Execute(c, i);
    i = c.stop == Context::Stop::kTaint ? c.resume : nullptr;
  }
}

}  // namespace warpwright::sim

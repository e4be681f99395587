#include "sim/exec/dispatch.h"

namespace warpwright::sim {

namespace v3 {
HandlerPair Select(const Instruction& in);
HandlerPair GuardedHandlers();
void Execute(Context& c, const Instruction* i);
}  // namespace v3

bool CpuIsSupported() {
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
                                __builtin_cpu_supports("bmi2");
  return supported;
}

bool BindHandlers(Instruction& in) {
  if (!CpuIsSupported()) return true;
  const HandlerPair pair = v3::Select(in);
  if (!pair.masked) return false;
  in.body[0] = pair.masked;
  in.body[1] = pair.full ? pair.full : pair.masked;
  if (in.guard != kNoOperand) {
    const HandlerPair guarded = v3::GuardedHandlers();
    in.run[0] = guarded.masked;
    in.run[1] = guarded.full;
  } else {
    in.run[0] = in.body[0];
    in.run[1] = in.body[1];
  }
  return true;
}

void Execute(Context& c, const Instruction* i) { v3::Execute(c, i); }

}  // namespace warpwright::sim

#include "core/original_remedy.h"

#include "base/result.h"

namespace warpwright::core {

std::string RemedyForOriginal(const Verdict& verdict) {
  return std::visit(
      Overload{[](const CompileFailed&) { return "mend the source, or give its compiler options in .warpwright.yml"; },
               [](const Refused& refused) {
                 return refused.check == Check::kSlice
                            ? "make a kernel, or a launcher that does without it, the entry in .warpwright.yml, or "
                              "remove this kernel there"
                            : "change the kernel, or remove it from .warpwright.yml; 'warpwright check' tells in "
                              "advance what is refused";
               },
               [](const WrongResult&) { return "mend the kernel, or correct its arguments in .warpwright.yml"; },
               [](const Faulted&) { return "mend the kernel, or correct its arguments and cases in .warpwright.yml"; },
               [](const Measured&) { return ""; }},
      verdict);
}

}  // namespace warpwright::core

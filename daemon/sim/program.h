// A PTX module, decoded once and run many times. Decoding resolves everything that does not depend on a launch: calls
// are inlined, virtual registers become slots of a warp's register file, branches know their point of reconvergence.
// What we cannot execute (textures, indirect calls, ...) does not fail the decode: it becomes an
// instruction that stops the kernel with Fault::kNotSimulated when it is reached, so that a module is rejected only for
// what it actually runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warpwright::sim {

struct SourceLocation {
  std::string file;
  int line = 0;
  bool operator==(const SourceLocation&) const = default;
};

struct ParameterInfo {
  uint32_t offset = 0;  // in the launch's parameter block
  uint32_t bytes = 0;
};

struct KernelInfo {
  std::string symbol;                // mangled, as in the PTX
  uint32_t static_shared_bytes = 0;  // dynamic shared memory begins after it, aligned
  uint32_t local_bytes = 0;          // per thread
  uint32_t parameter_bytes = 0;
  std::vector<ParameterInfo> parameters;
  uint32_t max_threads_per_block = 0;  // .maxntid or .reqntid; 0: not given
  size_t instructions = 0;             // after inlining
  bool uses_global_atomics = false;    // also through generic addresses
};

// A module variable in global or constant memory. `pointers` are locations inside it that hold the address of another
// variable.
struct ModuleVariable {
  struct Pointer {
    uint64_t offset = 0;
    uint32_t variable = 0;
    int64_t addend = 0;
  };
  std::string name;
  bool constant = false;
  uint64_t bytes = 0;
  uint32_t alignment = 1;
  std::vector<std::byte> initial;  // empty: zeroes
  std::vector<Pointer> pointers;
};

struct ProgramCode;  // instruction.h

class Program {
 public:
  explicit Program(std::shared_ptr<const ProgramCode> code);
  const std::vector<KernelInfo>& kernels() const;
  const KernelInfo* Find(std::string_view symbol) const;
  const std::vector<ModuleVariable>& variables() const;
  // The blocks of a kernel that does must run in order on one thread, or its results would depend on the schedule.
  bool UsesGlobalAtomics(std::string_view symbol) const;
  const ProgramCode& code() const { return *code_; }

 private:
  std::shared_ptr<const ProgramCode> code_;
};

struct DecodeOptions {
  // By the symbol of a kernel: numbers of branches (Instruction::branch) of which both sides shall run, as far as they
  // can: see if_convert.h.
  std::map<std::string, std::set<uint32_t>, std::less<>> converted;
};

// At most 32 MiB of PTX. Errors name the line in the PTX. Never crashes on any input.
Result<Program> DecodePtx(std::string_view ptx, const DecodeOptions& options = {});

}  // namespace warpwright::sim

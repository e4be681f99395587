// PTX text to a tree with all names resolved: registers, variables and labels become numbers, so that the lowering
// never deals with scopes. Views point into the text. Written for this project, because no library in Debian reads PTX,
// and LLVM only writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/instruction.h"

namespace warpwright::sim {

struct PtxOperand {
  enum class Kind : uint8_t {
    kNone,
    kRegister,
    kSpecial,
    kInteger,
    kFloat32,
    kFloat64,
    kVariable,
    kFunction,
    kLabel,
    kVector,
    kSink
  };
  Kind kind = Kind::kNone;
  bool memory = false;   // in brackets
  bool negated = false;  // !%p
  uint32_t index = 0;    // register, variable, function or statement of a label
  uint64_t bits = 0;     // number
  int64_t offset = 0;    // after a register or a variable
  std::string_view text;
  std::vector<PtxOperand> elements;  // of a vector; of "a|b": both
};

struct PtxStatement {
  std::string_view opcode;  // empty: this is a label
  int line = 0;
  uint32_t location = 0;  // into PtxModule::locations
  uint32_t guard = UINT32_MAX;
  bool guard_negated = false;
  std::vector<PtxOperand> operands;
  // For a call; operands[0] is the target.
  std::vector<PtxOperand> results, arguments;
};

struct PtxVariable {
  std::string_view name;
  Space space = Space::kGlobal;
  uint64_t bytes = 0;
  uint32_t alignment = 1;
  bool external = false;  // extern .shared x[]: dynamic shared memory
  std::vector<std::byte> initial;
  struct Reference {
    uint64_t offset = 0;
    std::string_view name;
    int64_t addend = 0;
  };
  std::vector<Reference> references;
};

struct PtxFunction {
  std::string_view name;
  bool entry = false;
  bool has_body = false;
  int line = 0;
  std::vector<uint32_t> results, parameters;  // variables, in .param space
  std::vector<Type> registers;
  std::vector<PtxStatement> statements;
  uint32_t max_threads = 0;
};

// A .loc with its inlining chain already followed to the innermost location that is not in a toolkit header.
struct PtxLocation {
  uint32_t file = 0;
  int line = 0, column = 0;
  uint32_t caller = 0;  // index of the location that it was inlined at; 0: none
};

struct PtxModule {
  std::vector<PtxVariable> variables;  // of the module and of all functions
  std::vector<PtxFunction> functions;
  std::vector<PtxLocation> locations;  // [0] is unknown
  std::vector<std::pair<uint32_t, std::string>> files;
  std::string_view target;
};

Result<PtxModule> ParsePtx(std::string_view text);

// "f32" to Type::kF32; kNone if it is not a type.
Type TypeFromName(std::string_view name);

}  // namespace warpwright::sim

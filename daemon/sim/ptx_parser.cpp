#include "sim/ptx_parser.h"

#include <bit>
#include <cstring>

#include "sim/ptx_reader.h"

namespace warpwright::sim {
namespace {

constexpr size_t kRegisterLimit = 1 << 20;
constexpr uint64_t kVariableBytesLimit = 256ull << 20;

struct NamedType {
  std::string_view name;
  Type type;
};
constexpr NamedType kTypes[] = {{"pred", Type::kPred},   {"b8", Type::kB8},     {"b16", Type::kB16},
                                {"b32", Type::kB32},     {"b64", Type::kB64},   {"b128", Type::kB128},
                                {"u8", Type::kU8},       {"u16", Type::kU16},   {"u32", Type::kU32},
                                {"u64", Type::kU64},     {"s8", Type::kS8},     {"s16", Type::kS16},
                                {"s32", Type::kS32},     {"s64", Type::kS64},   {"f16", Type::kF16},
                                {"f16x2", Type::kF16x2}, {"bf16", Type::kBf16}, {"bf16x2", Type::kBf16x2},
                                {"tf32", Type::kTf32},   {"f32", Type::kF32},   {"f64", Type::kF64}};
}  // namespace

uint64_t PtxReader::Integer() {
  if (token_.kind != Token::Kind::kInteger) {
    Error(fmt::format("a number is missing before '{}'", token_.text));
    return 0;
  }
  const uint64_t value = token_.bits;
  Advance();
  return value;
}

int64_t PtxReader::SignedInteger() {
  bool negative = false;
  while (Is("-") || Is("+")) {
    if (Is("-")) negative = !negative;
    Advance();
  }
  const uint64_t value = Integer();
  return static_cast<int64_t>(negative ? 0 - value : value);
}

void PtxReader::SkipBraces() {
  int depth = 0;
  while (!Done()) {
    if (Is("{")) ++depth;
    if (Is("}") && --depth == 0) {
      Advance();
      return;
    }
    Advance();
  }
  Error("a '}' is missing");
}

uint32_t PtxReader::AddVariable(PtxVariable variable, bool in_module) {
  const auto index = static_cast<uint32_t>(module_.variables.size());
  variable_bytes_ += variable.bytes;
  if (variable.bytes > kVariableBytesLimit || variable_bytes_ > kVariableBytesLimit)
    Error("variables of more than 256 MiB");
  if (in_module) module_variables_[variable.name] = index;
  else scopes_[scope_][variable.name] = Name{Name::Kind::kVariable, index, 0};
  module_.variables.push_back(std::move(variable));
  return index;
}

// One or more declarators after ".global", ".param" and so on: [.align n] [.ptr ...] .type name [dims] [= init], ...
void PtxReader::Variable(Space space, bool external, bool single) {
  PtxVariable base;
  base.space = space;
  Type type = Type::kNone;
  uint32_t vector = 1;
  while (!Done() && token_.kind == Token::Kind::kWord && token_.text[0] == '.') {
    const std::string_view word = token_.text.substr(1);
    Advance();
    if (word == "align") base.alignment = static_cast<uint32_t>(Integer());
    else if (word == "v2") vector = 2;
    else if (word == "v4") vector = 4;
    else if (Type t = TypeFromName(word); t != Type::kNone) type = t;
    // .ptr, .global and similar after .param: hints; .attribute(...) has parentheses.
    if (Is("(")) {
      while (!Done() && !Is(")")) Advance();
      Expect(")");
    }
  }
  if (type == Type::kNone || type == Type::kPred) return Error("a variable without a type");
  if (base.alignment == 0 || base.alignment > 4096 || (base.alignment & (base.alignment - 1)) != 0)
    return Error("a variable's alignment is not a small power of two");
  do {
    PtxVariable variable = base;
    variable.name = token_.text;
    if (token_.kind != Token::Kind::kWord) return Error("a variable without a name");
    Advance();
    const uint64_t element = static_cast<uint64_t>(ByteSize(type)) * vector;
    variable.bytes = element;
    variable.alignment = std::max<uint32_t>(variable.alignment, static_cast<uint32_t>(element));
    if (base.alignment > 1) variable.alignment = base.alignment;
    bool open = false;
    while (Accept("[")) {
      if (Is("]")) open = true;
      else {
        const uint64_t count = Integer();
        if (count > kVariableBytesLimit) return Error("an array too large");
        variable.bytes = variable.bytes * count;
        if (variable.bytes > kVariableBytesLimit) return Error("an array too large");
      }
      Expect("]");
    }
    variable.external = external && space == Space::kShared && open;
    if (open) variable.bytes = 0;
    if (Accept("=")) {
      Initializer(variable, type);
      if (open) variable.bytes = variable.initial.size();
    }
    if (failed_) return;
    AddVariable(std::move(variable), function_ == nullptr);
  } while (!single && Accept(","));
}

void PtxReader::Initializer(PtxVariable& variable, Type type) {
  const auto size = static_cast<size_t>(ByteSize(type));
  auto append = [&](uint64_t bits) {
    const size_t at = variable.initial.size();
    if (at + size > kVariableBytesLimit) return Error("an initialiser too large");
    variable.initial.resize(at + size);
    std::memcpy(variable.initial.data() + at, &bits, std::min<size_t>(size, 8));
  };
  int depth = 0;
  do {
    while (Accept("{")) ++depth;
    if (Is("}")) {
    } else if (token_.kind == Token::Kind::kFloat64 && type == Type::kF32) {
      append(std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(token_.bits))));
      Advance();
    } else if (token_.kind == Token::Kind::kFloat32 || token_.kind == Token::Kind::kFloat64) {
      append(token_.bits);
      Advance();
    } else if (token_.kind == Token::Kind::kInteger || Is("-") || Is("+")) {
      append(static_cast<uint64_t>(SignedInteger()));
    } else if (token_.kind == Token::Kind::kWord) {
      // generic(name), name, name+4; mask(...) of a pointer's bytes is rejected because of the missing ','.
      const bool generic = Accept("generic");
      if (generic) Expect("(");
      PtxVariable::Reference reference{variable.initial.size(), token_.text, 0};
      Advance();
      if (generic) Expect(")");
      if (Is("+") || Is("-")) reference.addend = SignedInteger();
      variable.references.push_back(reference);
      append(0);
    } else {
      return Error("an initialiser that is neither a number nor a name");
    }
    while (depth > 0 && Accept("}")) --depth;
  } while (!Done() && Accept(","));
  if (depth != 0) Error("a '}' is missing in an initialiser");
}

void PtxReader::ParameterList(std::vector<uint32_t>& out) {
  Expect("(");
  while (!Done() && !Is(")")) {
    const size_t before = module_.variables.size();
    if (Accept(".param")) {
      Variable(Space::kParam, false, true);
    } else if (Accept(".reg")) {
      return Error("a function with register parameters: not supported");
    } else if (Accept("_")) {
    } else {
      return Error(fmt::format("'{}' in a parameter list", token_.text));
    }
    for (size_t i = before; i < module_.variables.size(); ++i) out.push_back(static_cast<uint32_t>(i));
    if (!Accept(",")) break;
  }
  Expect(")");
}

void PtxReader::Function(bool entry) {
  PtxFunction function;
  function.entry = entry;
  function.line = token_.line;
  PtxFunction* previous = function_;
  function_ = &function;
  scopes_.assign(1, {});
  parents_.assign(1, 0);
  scope_ = 0;
  depth_ = 0;
  fixups_.clear();
  location_ = 0;
  if (!entry && Is("(")) ParameterList(function.results);
  if (token_.kind != Token::Kind::kWord) Error("a function without a name");
  function.name = token_.text;
  Advance();
  if (Is("(")) ParameterList(function.parameters);
  while (!Done() && token_.kind == Token::Kind::kWord && token_.text[0] == '.') {
    const bool threads = Is(".maxntid") || Is(".reqntid");
    Advance();
    uint64_t product = 1;
    while (!Done() && token_.kind == Token::Kind::kInteger) {
      product = std::min<uint64_t>(product, 1 << 20) * std::min<uint64_t>(Integer(), 1 << 20);
      if (!Accept(",")) break;
    }
    if (threads) function.max_threads = static_cast<uint32_t>(std::min<uint64_t>(product, UINT32_MAX));
  }
  const auto index = static_cast<uint32_t>(module_.functions.size());
  auto [known, inserted] = functions_.try_emplace(function.name, index);
  if (inserted) module_.functions.emplace_back();
  if (!Accept(";")) {
    function.has_body = true;
    Expect("{");
    Body();
    ResolveLabels();
  }
  if (!module_.functions[known->second].has_body) module_.functions[known->second] = std::move(function);
  function_ = previous;
}

void PtxReader::Registers() {
  Type type = Type::kNone;
  while (!Done() && token_.kind == Token::Kind::kWord && token_.text[0] == '.') {
    const Type t = TypeFromName(token_.text.substr(1));
    if (t == Type::kNone) return Error(fmt::format("registers of type '{}'", token_.text));
    type = t;
    Advance();
  }
  if (type == Type::kNone) return Error("registers without a type");
  do {
    const std::string_view name = token_.text;
    if (token_.kind != Token::Kind::kWord) return Error("a register without a name");
    Advance();
    uint64_t count = 1;
    Name entry{Name::Kind::kRegister, static_cast<uint32_t>(function_->registers.size()), 1};
    if (Accept("<")) {
      count = Integer();
      Expect(">");
      entry.kind = Name::Kind::kRegisterRange;
    }
    if (count > kRegisterLimit || function_->registers.size() + count > kRegisterLimit)
      return Error("too many registers");
    entry.count = static_cast<uint32_t>(count);
    function_->registers.resize(function_->registers.size() + count, type);
    scopes_[scope_][name] = entry;
  } while (Accept(","));
  Expect(";");
}

// .loc file line column [, function_name label [+ offset], inlined_at file line column]
void PtxReader::Location() {
  PtxLocation location;
  location.file = static_cast<uint32_t>(Integer());
  location.line = static_cast<int>(std::min<uint64_t>(Integer(), INT32_MAX));
  location.column = static_cast<int>(std::min<uint64_t>(Integer(), INT32_MAX));
  while (Accept(",")) {
    if (Accept("function_name")) {
      Advance();
      if (Accept("+")) Integer();
    } else if (Accept("inlined_at")) {
      const auto file = static_cast<uint32_t>(Integer());
      const int line = static_cast<int>(std::min<uint64_t>(Integer(), INT32_MAX));
      const int column = static_cast<int>(std::min<uint64_t>(Integer(), INT32_MAX));
      auto known = last_location_.find({file, line, column});
      if (known != last_location_.end()) {
        location.caller = known->second;
      } else {
        location.caller = static_cast<uint32_t>(module_.locations.size());
        module_.locations.push_back(PtxLocation{file, line, column, 0});
      }
    } else {
      return Error("a malformed .loc");
    }
  }
  // Line 0 is the compiler's way of marking an unknown location: the previous one stays in effect.
  if (location.line == 0 && location.caller == 0) return;
  auto& last = last_location_[{location.file, location.line, location.column}];
  if (last != 0 && module_.locations[last].caller == location.caller) {
    location_ = last;
    return;
  }
  last = location_ = static_cast<uint32_t>(module_.locations.size());
  module_.locations.push_back(location);
}

void PtxReader::ModuleItem() {
  if (token_.kind != Token::Kind::kWord || token_.text[0] != '.')
    return Error(fmt::format("'{}' where a directive should be", token_.text));
  std::string_view word = token_.text;
  Advance();
  bool external = false;
  while (word == ".visible" || word == ".extern" || word == ".weak" || word == ".common") {
    external |= word == ".extern";
    word = token_.text;
    Advance();
  }
  if (word == ".version") {
    Advance();
  } else if (word == ".target") {
    module_.target = token_.text;
    Advance();
    while (Accept(",")) Advance();
  } else if (word == ".address_size") {
    if (Integer() != 64) Error("only 64-bit addresses are supported");
  } else if (word == ".file") {
    const auto index = static_cast<uint32_t>(Integer());
    if (token_.kind == Token::Kind::kString) module_.files.emplace_back(index, std::string(token_.text));
    Advance();
    while (Accept(",")) Advance();
  } else if (word == ".section") {
    while (!Done() && !Is("{")) Advance();
    SkipBraces();
  } else if (word == ".global" || word == ".const" || word == ".shared") {
    Variable(word == ".global" ? Space::kGlobal : word == ".const" ? Space::kConst : Space::kShared, external);
    Expect(";");
  } else if (word == ".entry" || word == ".func") {
    if (word == ".func")
      while (!Done() && token_.kind == Token::Kind::kWord && token_.text[0] == '.') Advance();  // .noreturn
    Function(word == ".entry");
  } else if (word == ".pragma" || word == ".alias" || word == ".branchtargets" || word == ".callprototype") {
    SkipToSemicolon();
  } else if (word == ".loc") {
    Location();
  } else {
    Error(fmt::format("unknown directive '{}'", word));
  }
}

Result<PtxModule> PtxReader::Parse() {
  module_.locations.emplace_back();
  while (!Done()) ModuleItem();
  if (!failed_ && !lexer_.error().empty()) Error(lexer_.error());
  if (failed_) {
    warpwright::Error error{ErrorCode::kCorrupt, "malformed PTX: " + error_, "", error_line_};
    return Fail(std::move(error));
  }
  return std::move(module_);
}

Type TypeFromName(std::string_view name) {
  for (const NamedType& entry : kTypes)
    if (entry.name == name) return entry.type;
  return Type::kNone;
}

Result<PtxModule> ParsePtx(std::string_view text) { return PtxReader(text).Parse(); }

}  // namespace warpwright::sim

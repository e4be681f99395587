#include "sim/ptx_parser.h"

#include <bit>
#include <cstring>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "sim/ptx_lexer.h"

namespace warpwright::sim {
namespace {

constexpr size_t kRegisterLimit = 1 << 20;
constexpr size_t kStatementLimit = 4 << 20;
constexpr uint64_t kVariableBytesLimit = 256ull << 20;
constexpr int kScopeLimit = 64;

struct NamedType {
  std::string_view name;
  Type type;
};
constexpr NamedType kTypes[] = {
    {"pred", Type::kPred}, {"b8", Type::kB8},   {"b16", Type::kB16},     {"b32", Type::kB32},   {"b64", Type::kB64},
    {"b128", Type::kB128}, {"u8", Type::kU8},   {"u16", Type::kU16},     {"u32", Type::kU32},   {"u64", Type::kU64},
    {"s8", Type::kS8},     {"s16", Type::kS16}, {"s32", Type::kS32},     {"s64", Type::kS64},   {"f16", Type::kF16},
    {"f16x2", Type::kF16x2}, {"bf16", Type::kBf16}, {"bf16x2", Type::kBf16x2}, {"f32", Type::kF32}, {"f64", Type::kF64}};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { Advance(); }
  Result<PtxModule> Parse();

 private:
  struct Name {
    enum class Kind : uint8_t { kRegister, kRegisterRange, kVariable, kLabel };
    Kind kind;
    uint32_t index = 0;
    uint32_t count = 0;
  };
  using Scope = std::unordered_map<std::string_view, Name>;
  struct Fixup {  // a label that may be defined later
    size_t statement, operand;
    uint32_t scope;
  };

  // Tokens.
  void Advance() { token_ = lexer_.Next(); }
  bool Is(std::string_view text) const {
    return (token_.kind == Token::Kind::kWord || token_.kind == Token::Kind::kPunctuation) && token_.text == text;
  }
  bool Accept(std::string_view text) {
    if (!Is(text)) return false;
    Advance();
    return true;
  }
  void Expect(std::string_view text) {
    if (!Accept(text)) Error(fmt::format("'{}' is missing before '{}'", text, token_.text));
  }
  void Error(std::string message) {
    if (failed_) return;
    failed_ = true;
    error_line_ = token_.line;
    error_ = lexer_.error().empty() ? std::move(message) : lexer_.error();
    token_ = Token{Token::Kind::kEnd, {}, 0, token_.line};
  }
  bool Done() const { return failed_ || token_.kind == Token::Kind::kEnd; }
  void SkipToSemicolon() {
    while (!Done() && !Is(";")) Advance();
    Expect(";");
  }
  void SkipBraces();
  uint64_t Integer();
  int64_t SignedInteger();

  // Declarations.
  void ModuleItem();
  void Variable(Space space, bool external, bool single = false);
  uint32_t AddVariable(PtxVariable variable, bool in_module);
  void Initializer(PtxVariable& variable, Type type);
  void Function(bool entry);
  void ParameterList(std::vector<uint32_t>& out);
  void Registers();
  void Location();

  // Bodies.
  void Body();
  void Statement();
  void Instruction(PtxStatement statement);
  void Call(PtxStatement& statement);
  PtxOperand Operand();
  PtxOperand Atom();
  void ResolveWord(PtxOperand& operand);
  bool FindRegister(std::string_view name, uint32_t& index) const;
  const Name* FindName(std::string_view name) const;
  void ResolveLabels();

  Lexer lexer_;
  Token token_;
  bool failed_ = false;
  int error_line_ = 0;
  std::string error_;

  PtxModule module_;
  std::unordered_map<std::string_view, uint32_t> module_variables_, functions_;
  std::map<std::tuple<uint32_t, int, int>, uint32_t> last_location_;
  uint32_t location_ = 0;
  uint64_t variable_bytes_ = 0;

  PtxFunction* function_ = nullptr;
  std::vector<Scope> scopes_;           // all of the function; open ones are in the chain
  std::vector<uint32_t> parents_;
  uint32_t scope_ = 0;
  int depth_ = 0;
  int vector_depth_ = 0;
  std::vector<Fixup> fixups_;
};

uint64_t Parser::Integer() {
  if (token_.kind != Token::Kind::kInteger) {
    Error(fmt::format("a number is missing before '{}'", token_.text));
    return 0;
  }
  const uint64_t value = token_.bits;
  Advance();
  return value;
}

int64_t Parser::SignedInteger() {
  bool negative = false;
  while (Is("-") || Is("+")) {
    if (Is("-")) negative = !negative;
    Advance();
  }
  const uint64_t value = Integer();
  return static_cast<int64_t>(negative ? 0 - value : value);
}

void Parser::SkipBraces() {
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

uint32_t Parser::AddVariable(PtxVariable variable, bool in_module) {
  const auto index = static_cast<uint32_t>(module_.variables.size());
  variable_bytes_ += variable.bytes;
  if (variable.bytes > kVariableBytesLimit || variable_bytes_ > kVariableBytesLimit) Error("variables of more than 256 MiB");
  if (in_module) module_variables_[variable.name] = index;
  else scopes_[scope_][variable.name] = Name{Name::Kind::kVariable, index, 0};
  module_.variables.push_back(std::move(variable));
  return index;
}

// One or more declarators behind ".global", ".param" and so on: [.align n] [.ptr ...] .type name [dims] [= init], ...
void Parser::Variable(Space space, bool external, bool single) {
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
    // .ptr, .global and the like behind .param: hints; .attribute(...) has parentheses.
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

void Parser::Initializer(PtxVariable& variable, Type type) {
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
      // generic(name), name, name+4; mask(...) of a pointer's bytes is refused by the missing ','.
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

void Parser::ParameterList(std::vector<uint32_t>& out) {
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

void Parser::Function(bool entry) {
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

void Parser::Registers() {
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
    if (count > kRegisterLimit || function_->registers.size() + count > kRegisterLimit) return Error("too many registers");
    entry.count = static_cast<uint32_t>(count);
    function_->registers.resize(function_->registers.size() + count, type);
    scopes_[scope_][name] = entry;
  } while (Accept(","));
  Expect(";");
}

// .loc file line column [, function_name label [+ offset], inlined_at file line column]
void Parser::Location() {
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
  // Line 0 is the compiler's way to say that it does not know: the place before stays.
  if (location.line == 0 && location.caller == 0) return;
  auto& last = last_location_[{location.file, location.line, location.column}];
  if (last != 0 && module_.locations[last].caller == location.caller) {
    location_ = last;
    return;
  }
  last = location_ = static_cast<uint32_t>(module_.locations.size());
  module_.locations.push_back(location);
}

void Parser::Body() {
  while (!Done()) {
    if (Is("}") && depth_ == 0) {
      Advance();
      return;
    }
    Statement();
  }
  Error("a function's '}' is missing");
}

void Parser::Statement() {
  if (function_->statements.size() > kStatementLimit) return Error("a function with too many instructions");
  if (Accept(";")) return;
  if (Accept("{")) {
    if (++depth_ > kScopeLimit) return Error("scopes nested too deeply");
    scopes_.emplace_back();
    parents_.push_back(scope_);
    scope_ = static_cast<uint32_t>(scopes_.size() - 1);
    return;
  }
  if (Accept("}")) {
    --depth_;
    scope_ = parents_[scope_];
    return;
  }
  if (token_.kind == Token::Kind::kWord && token_.text[0] == '.') {
    const std::string_view word = token_.text;
    Advance();
    if (word == ".reg") return Registers();
    if (word == ".loc") return Location();
    if (word == ".shared" || word == ".local" || word == ".param" || word == ".global" || word == ".const") {
      Variable(word == ".shared"  ? Space::kShared
               : word == ".local" ? Space::kLocal
               : word == ".param" ? Space::kParam
               : word == ".const" ? Space::kConst
                                  : Space::kGlobal,
               false);
      return Expect(";");
    }
    return SkipToSemicolon();  // .pragma and the like
  }
  PtxStatement statement;
  statement.line = token_.line;
  statement.location = location_;
  if (Accept("@")) {
    statement.guard_negated = Accept("!");
    if (!FindRegister(token_.text, statement.guard)) return Error(fmt::format("unknown predicate '{}'", token_.text));
    Advance();
  }
  if (token_.kind != Token::Kind::kWord) return Error(fmt::format("an instruction is missing before '{}'", token_.text));
  const std::string_view word = token_.text;
  Advance();
  if (Accept(":")) {
    scopes_[scope_][word] = Name{Name::Kind::kLabel, static_cast<uint32_t>(function_->statements.size()), 0};
    if (Is(".branchtargets") || Is(".callprototype") || Is(".calltargets")) return SkipToSemicolon();
    function_->statements.push_back(std::move(statement));  // without an opcode
    return;
  }
  statement.opcode = word;
  Instruction(std::move(statement));
}

void Parser::Instruction(PtxStatement statement) {
  if (statement.opcode == "call" || statement.opcode.starts_with("call.")) {
    Call(statement);
  } else if (!Is(";")) {
    do {
      statement.operands.push_back(Operand());
    } while (!failed_ && Accept(","));
  }
  Expect(";");
  if (failed_) return;
  for (size_t i = 0; i < statement.operands.size(); ++i)
    if (statement.operands[i].kind == PtxOperand::Kind::kLabel) fixups_.push_back({function_->statements.size(), i, scope_});
  function_->statements.push_back(std::move(statement));
}

void Parser::Call(PtxStatement& statement) {
  auto list = [&](std::vector<PtxOperand>& out) {
    Expect("(");
    while (!Done() && !Is(")")) {
      out.push_back(Atom());
      if (!Accept(",")) break;
    }
    Expect(")");
  };
  if (Is("(")) {
    list(statement.results);
    Expect(",");
  }
  PtxOperand target;
  target.text = token_.text;
  auto known = functions_.find(token_.text);
  if (known != functions_.end()) {
    target.kind = PtxOperand::Kind::kFunction;
    target.index = known->second;
  }
  statement.operands.push_back(target);
  Advance();
  if (Accept(",") && Is("(")) list(statement.arguments);
  while (!Done() && !Is(";")) Advance();  // a prototype or a list of targets
}

const Parser::Name* Parser::FindName(std::string_view name) const {
  for (uint32_t scope = scope_;; scope = parents_[scope]) {
    auto found = scopes_[scope].find(name);
    if (found != scopes_[scope].end()) return &found->second;
    if (scope == 0) return nullptr;
  }
}

bool Parser::FindRegister(std::string_view name, uint32_t& index) const {
  if (const Name* found = FindName(name); found && found->kind == Name::Kind::kRegister) {
    index = found->index;
    return true;
  }
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits == name.size() || name.size() - digits > 9) return false;
  const Name* range = FindName(name.substr(0, digits));
  if (!range || range->kind != Name::Kind::kRegisterRange) return false;
  uint32_t number = 0;
  for (size_t i = digits; i < name.size(); ++i) number = number * 10 + static_cast<uint32_t>(name[i] - '0');
  if (number >= range->count) return false;
  index = range->index + number;
  return true;
}

void Parser::ResolveWord(PtxOperand& operand) {
  const std::string_view name = operand.text;
  if (name == "_") {
    operand.kind = PtxOperand::Kind::kSink;
  } else if (FindRegister(name, operand.index)) {
    operand.kind = PtxOperand::Kind::kRegister;
  } else if (const Name* found = FindName(name); found && found->kind == Name::Kind::kVariable) {
    operand.kind = PtxOperand::Kind::kVariable;
    operand.index = found->index;
  } else if (auto global = module_variables_.find(name); global != module_variables_.end()) {
    operand.kind = PtxOperand::Kind::kVariable;
    operand.index = global->second;
  } else if (name[0] == '%' || name == "WARP_SZ") {
    operand.kind = PtxOperand::Kind::kSpecial;
  } else if (auto known = functions_.find(name); known != functions_.end()) {
    operand.kind = PtxOperand::Kind::kFunction;
    operand.index = known->second;
  } else {
    operand.kind = PtxOperand::Kind::kLabel;
  }
}

PtxOperand Parser::Atom() {
  PtxOperand operand;
  operand.negated = Accept("!");
  operand.text = token_.text;
  bool negative = false;
  while (Is("-") || Is("+")) {
    if (Is("-")) negative = !negative;
    Advance();
  }
  switch (token_.kind) {
    case Token::Kind::kInteger:
      operand.kind = PtxOperand::Kind::kInteger;
      operand.bits = negative ? 0 - token_.bits : token_.bits;
      Advance();
      break;
    case Token::Kind::kFloat32:
      operand.kind = PtxOperand::Kind::kFloat32;
      operand.bits = token_.bits ^ (negative ? 0x80000000u : 0);
      Advance();
      break;
    case Token::Kind::kFloat64:
      operand.kind = PtxOperand::Kind::kFloat64;
      operand.bits = token_.bits ^ (negative ? 1ull << 63 : 0);
      Advance();
      break;
    case Token::Kind::kWord:
      ResolveWord(operand);
      Advance();
      break;
    default:
      Error(fmt::format("an operand is missing before '{}'", token_.text));
  }
  return operand;
}

PtxOperand Parser::Operand() {
  if (Accept("[")) {
    PtxOperand operand = Atom();
    if (operand.kind == PtxOperand::Kind::kInteger) operand.offset = static_cast<int64_t>(operand.bits);
    if (Is("+") || Is("-")) operand.offset = SignedInteger();
    operand.memory = true;
    if (!Is("]")) {  // tensor coordinates and the like: kept as a vector, which no instruction that we know accepts
      PtxOperand list;
      list.kind = PtxOperand::Kind::kVector;
      list.memory = true;
      int depth = 1;
      while (!Done() && depth > 0) {
        if (Is("[")) ++depth;
        if (Is("]") && --depth == 0) break;
        Advance();
      }
      operand = std::move(list);
    }
    Expect("]");
    return operand;
  }
  if (Accept("{")) {
    PtxOperand operand;
    operand.kind = PtxOperand::Kind::kVector;
    if (++vector_depth_ > 4) Error("vectors nested too deeply");
    while (!Done() && !Is("}")) {
      operand.elements.push_back(Operand());
      if (!Accept(",")) break;
    }
    --vector_depth_;
    Expect("}");
    return operand;
  }
  PtxOperand operand = Atom();
  if (Accept("|")) {
    PtxOperand second = Atom();
    PtxOperand pair;
    pair.kind = PtxOperand::Kind::kVector;
    pair.text = "|";
    pair.elements = {std::move(operand), std::move(second)};
    return pair;
  }
  if ((operand.kind == PtxOperand::Kind::kVariable || operand.kind == PtxOperand::Kind::kRegister) && (Is("+") || Is("-")))
    operand.offset = SignedInteger();
  return operand;
}

void Parser::ResolveLabels() {
  for (const Fixup& fixup : fixups_) {
    PtxOperand& operand = function_->statements[fixup.statement].operands[fixup.operand];
    for (uint32_t scope = fixup.scope;; scope = parents_[scope]) {
      auto found = scopes_[scope].find(operand.text);
      if (found != scopes_[scope].end() && found->second.kind == Name::Kind::kLabel) {
        operand.index = found->second.index;
        break;
      }
      if (scope == 0) {
        operand.kind = PtxOperand::Kind::kNone;  // the lowering says "unknown name" where it matters
        break;
      }
    }
  }
}

void Parser::ModuleItem() {
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

Result<PtxModule> Parser::Parse() {
  module_.locations.emplace_back();
  while (!Done()) ModuleItem();
  if (!failed_ && !lexer_.error().empty()) Error(lexer_.error());
  if (failed_) {
    warpwright::Error error{ErrorCode::kCorrupt, "malformed PTX: " + error_, "", error_line_};
    return Fail(std::move(error));
  }
  return std::move(module_);
}

}  // namespace

Type TypeFromName(std::string_view name) {
  for (const NamedType& entry : kTypes)
    if (entry.name == name) return entry.type;
  return Type::kNone;
}

Result<PtxModule> ParsePtx(std::string_view text) { return Parser(text).Parse(); }

}  // namespace warpwright::sim

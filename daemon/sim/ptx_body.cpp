#include "sim/ptx_reader.h"

namespace warpwright::sim {
namespace {

constexpr size_t kStatementLimit = 4 << 20;
constexpr int kScopeLimit = 64;

}  // namespace

void PtxReader::Body() {
  while (!Done()) {
    if (Is("}") && depth_ == 0) {
      Advance();
      return;
    }
    Statement();
  }
  Error("a function's '}' is missing");
}

void PtxReader::Statement() {
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
    return SkipToSemicolon();  // .pragma and similar
  }
  PtxStatement statement;
  statement.line = token_.line;
  statement.location = location_;
  if (Accept("@")) {
    statement.guard_negated = Accept("!");
    if (!FindRegister(token_.text, statement.guard)) return Error(fmt::format("unknown predicate '{}'", token_.text));
    Advance();
  }
  if (token_.kind != Token::Kind::kWord)
    return Error(fmt::format("an instruction is missing before '{}'", token_.text));
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

void PtxReader::Instruction(PtxStatement statement) {
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
    if (statement.operands[i].kind == PtxOperand::Kind::kLabel)
      fixups_.push_back({function_->statements.size(), i, scope_});
  function_->statements.push_back(std::move(statement));
}

void PtxReader::Call(PtxStatement& statement) {
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

const PtxReader::Name* PtxReader::FindName(std::string_view name) const {
  for (uint32_t scope = scope_;; scope = parents_[scope]) {
    auto found = scopes_[scope].find(name);
    if (found != scopes_[scope].end()) return &found->second;
    if (scope == 0) return nullptr;
  }
}

bool PtxReader::FindRegister(std::string_view name, uint32_t& index) const {
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

void PtxReader::ResolveWord(PtxOperand& operand) {
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

PtxOperand PtxReader::Atom() {
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
    default: Error(fmt::format("an operand is missing before '{}'", token_.text));
  }
  return operand;
}

PtxOperand PtxReader::Operand() {
  if (Accept("[")) {
    PtxOperand operand = Atom();
    if (operand.kind == PtxOperand::Kind::kInteger) operand.offset = static_cast<int64_t>(operand.bits);
    if (Is("+") || Is("-")) operand.offset = SignedInteger();
    operand.memory = true;
    if (!Is("]")) {  // tensor coordinates and similar: stored as a vector, which no supported instruction accepts
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
  if ((operand.kind == PtxOperand::Kind::kVariable || operand.kind == PtxOperand::Kind::kRegister) &&
      (Is("+") || Is("-")))
    operand.offset = SignedInteger();
  return operand;
}

void PtxReader::ResolveLabels() {
  for (const Fixup& fixup : fixups_) {
    PtxOperand& operand = function_->statements[fixup.statement].operands[fixup.operand];
    for (uint32_t scope = fixup.scope;; scope = parents_[scope]) {
      auto found = scopes_[scope].find(operand.text);
      if (found != scopes_[scope].end() && found->second.kind == Name::Kind::kLabel) {
        operand.index = found->second.index;
        break;
      }
      if (scope == 0) {
        operand.kind = PtxOperand::Kind::kNone;  // the lowering reports "unknown name" if it matters
        break;
      }
    }
  }
}
}  // namespace warpwright::sim

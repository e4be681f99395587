// Reads PTX text into a PtxModule. Internal to ParsePtx: declarations are read in ptx_parser.cpp, function bodies in
// ptx_body.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "sim/ptx_lexer.h"
#include "sim/ptx_parser.h"

namespace warpwright::sim {

class PtxReader {
 public:
  explicit PtxReader(std::string_view text) : lexer_(text) { Advance(); }
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
  void Error(std::string_view message) {
    if (failed_) return;
    failed_ = true;
    error_line_ = token_.line;
    error_ = lexer_.error().empty() ? std::string(message) : lexer_.error();
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
  std::vector<Scope> scopes_;  // all scopes of the function; the open ones form the chain
  std::vector<uint32_t> parents_;
  uint32_t scope_ = 0;
  int depth_ = 0;
  int vector_depth_ = 0;
  std::vector<Fixup> fixups_;
};
}  // namespace warpwright::sim

// The macros of a source tree: what an invocation may expand to, as far as tokens show it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "source/tokens.h"

namespace warpwright::source {

// __global__, __device__ and so on, also if they come from a macro of the file.
enum CudaAttribute : unsigned { kGlobal = 1, kDevice = 2, kHost = 4, kConstant = 8, kManaged = 16, kShared = 32 };

// A #define. Several definitions of one name (in #if branches) are several macros.
struct Macro {
  std::string name;
  bool function_like = false;
  bool active = true;  // not in a branch that is skipped
  std::vector<std::string> parameters;
  std::vector<Token> body;
  bool declares = false;     // its body has a ';' or a '{...}': where a declaration may begin, an invocation is one
  bool pastes = false;       // uses ##
  int brace_balance = 0;     // +1: opens a brace ("BEGIN_NAMESPACE", "KERNEL_BEGIN(name)")
  bool opens_scope = false;  // the braces that it opens are those of namespaces or extern "C"
  TextRange range;           // the directive
  int line = 0, end_line = 0;
  std::string path;

  bool HasParameter(std::string_view parameter) const;
  std::vector<size_t> OpenBraces() const;  // indices in the body of those that stay open
};

// Every #define among a file's tokens, in order.
std::vector<Macro> FindMacros(const std::vector<Token>& tokens, const std::string& path,
                              const std::vector<TextRange>& inactive);

class MacroTable {
 public:
  void Add(Macro macro);
  const std::vector<Macro>* Find(std::string_view name) const;
  unsigned Attributes(std::string_view name) const;  // CudaAttribute bits of the name, also through other macros
  // A macro whose invocation, where a declaration may begin, is one; also through other macros.
  bool Declares(std::string_view name) const;
  // The braces that the macro at code[at] opens or, negative, closes; 0: none, or no macro, or no invocation of it.
  int BraceBalance(const std::vector<Token>& code, size_t at) const;
  bool OpensScope(std::string_view name) const;
  bool IsFunctionLike(std::string_view name) const;
  bool any_pastes() const { return any_pastes_; }
  const std::map<std::string, std::vector<Macro>, std::less<>>& all() const { return macros_; }

 private:
  // The definition that is active, or the first.
  const Macro* Current(std::string_view name) const;

  std::map<std::string, std::vector<Macro>, std::less<>> macros_;
  bool any_pastes_ = false;
};

}  // namespace warpwright::source

// The syntax tree of a .cu file, by libclang. The parse is hermetic: our own declarations of the CUDA runtime replace
// every system header, repository headers are passed as text, and the parser opens no file. So a parse takes
// milliseconds and needs no toolkit. It is also tolerant: a construct that cannot be resolved reduces what is known
// about its statement and nothing else; diagnostics are available on request.
//
// The tree is the device's view (__CUDA_ARCH__ is 900): inactive #if branches are not in it, but host functions are.
#pragma once

#include <clang-c/Index.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/source_requests.h"
#include "source/includes.h"
#include "source/tokens.h"

namespace warpwright::source {

class Ast {
 public:
  static Result<Ast> Parse(const core::SourceRef& source);
  Ast(Ast&&) noexcept;
  Ast& operator=(Ast&&) noexcept;
  ~Ast();

  const core::SourceRef& source() const;
  const SourceTree& tree() const;  // the main file and its repository headers
  std::string_view text() const;   // of the main file
  CXTranslationUnit unit() const;
  CXCursor root() const;
  std::vector<std::string> Diagnostics() const;                          // "file:line: message", errors only
  std::vector<TextRange> InactiveRanges(const std::string& path) const;  // branches of #if that are not compiled

 private:
  struct State;
  explicit Ast(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

namespace ast {

std::string ToString(CXString text);  // and disposes of it
std::vector<CXCursor> Children(CXCursor cursor);
// All cursors below `cursor`, in source order, parents first. `visit` returns false to stay out of a subtree.
void ForEachDescendant(CXCursor cursor, const std::function<bool(CXCursor)>& visit);

std::string Spelling(CXCursor cursor);  // its name
std::string TypeSpelling(CXCursor cursor);
std::string_view Text(const Ast& ast, CXCursor cursor);  // its source text; empty outside the main file
std::string_view Text(const Ast& ast, TextRange range);

// By expansion location: code from a macro is located where the macro is used. Statements that begin with a macro
// (__shared__) have the extent that the user sees.
TextRange Offsets(CXCursor cursor);
int Line(CXCursor cursor);
int EndLine(CXCursor cursor);
bool IsInMainFile(CXCursor cursor);
bool IsInRepository(CXCursor cursor);  // main file or a repository header
std::string FileOf(CXCursor cursor);   // relative to the root; "" for our own declarations
bool IsFromMacro(CXCursor cursor);     // expanded from a macro: its text is an invocation

bool IsFunction(CXCursor cursor);  // function, method or function template
bool IsKernel(CXCursor cursor);    // __global__
bool IsDevice(CXCursor cursor);    // has __device__ (perhaps __host__ too)
bool IsHost(CXCursor cursor);      // callable on the host: no attribute, or __host__
bool HasAttribute(CXCursor cursor, CXCursorKind attribute);
bool HasBody(CXCursor cursor);
CXCursor Body(CXCursor function);                     // the compound statement; clang_Cursor_isNull without one
std::vector<CXCursor> Parameters(CXCursor function);  // ParmDecls, also of function templates
std::vector<CXCursor> TemplateParameters(CXCursor function);

std::string QualifiedName(CXCursor cursor);  // "ns::softmax"; anonymous and inline namespaces are omitted

// Repository functions with a body, in source order.
std::vector<CXCursor> Functions(const Ast& ast);
std::vector<CXCursor> Kernels(const Ast& ast);
// By qualified name, or by the last part of it ("softmax" finds ns::softmax). Template arguments ("f<float>") are
// ignored.
std::vector<CXCursor> FindFunctions(const Ast& ast, std::string_view name);
std::optional<CXCursor> FindFunction(const Ast& ast, std::string_view name);  // the first of them

// Raw tokens of a range of the main file.
std::vector<Token> Tokens(const Ast& ast, TextRange range);
std::vector<Token> Tokens(const Ast& ast, CXCursor cursor);

}  // namespace ast
}  // namespace warpwright::source

// Converts libclang's cursors to the nodes of syntax.h: the implementation of BuildSyntax.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "source/ast.h"
#include "source/syntax.h"

namespace warpwright::source {

struct NodeExtent {
  uint32_t begin = 0, end = 0;
  bool in_macro = false;  // one end is spelled in a macro's body
};
NodeExtent NodeExtentOf(CXCursor cursor);

// Whether the cursor is part of another expression and not an expression itself, like the type in T(x).
bool IsPartReference(CXCursorKind kind);

class SyntaxBuilder {
 public:
  explicit SyntaxBuilder(std::string_view text) : text_(text) {}
  std::unique_ptr<Node> Build(CXCursor cursor, const NodeExtent* around = nullptr);

 private:
  // Code from another file (default arguments) has no position in this one.
  NodeExtent Within(CXCursor cursor) const;
  static constexpr int kMaxDepth = 400;  // of untrusted input; deeper expressions remain opaque
  std::unique_ptr<Node> Make(NodeKind kind, CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Empty(uint32_t at);
  void AddChildren(Node& node, const std::vector<CXCursor>& cursors);
  std::unique_ptr<Node> Dispatch(CXCursorKind kind, CXCursor cursor, const NodeExtent& extent,
                                 const NodeExtent* around);
  std::unique_ptr<Node> Simple(NodeKind kind, CXCursor cursor, const NodeExtent& extent);
  // The operand comes last, after constants of the type such as the 4 in Vector<T, 4>.
  std::unique_ptr<Node> Cast(CXCursor cursor, const NodeExtent& extent);
  std::string SymbolOf(CXCursor declaration);
  std::unique_ptr<Node> Variable(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> If(CXCursor cursor, const NodeExtent& extent);
  // libclang omits absent parts; the two semicolons show which ones are present.
  std::unique_ptr<Node> For(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Name(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Member(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Binary(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Unary(CXCursor cursor, const NodeExtent& extent);
  // The node inside, with the range of the parentheses.
  std::unique_ptr<Node> Paren(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Unexposed(CXCursorKind kind, CXCursor cursor, const NodeExtent& extent,
                                  const NodeExtent* around);
  // Clang represents what it could not resolve as a list of parts; a call to an unknown function is still a call.
  std::unique_ptr<Node> Unresolved(CXCursor cursor, const NodeExtent& extent, const std::vector<CXCursor>& children);
  std::string CalleeName(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Call(CXCursor cursor, const NodeExtent& extent, const NodeExtent* around);
  // The operator of a call that is unresolved in a template: between the operands, or before the only one. A call by
  // name begins with the name, not with its first argument.
  std::string SpeltOperator(CXCursor cursor, const NodeExtent& extent, int count);
  // Copies, conversions and moves are skipped: they have one argument that spells the same text.
  std::unique_ptr<Node> Construct(CXCursor cursor, const NodeExtent& extent, const NodeExtent* around,
                                  const std::vector<CXCursor>& children, int count);
  std::unique_ptr<Node> OperatorCall(CXCursor cursor, const NodeExtent& extent, const std::string& name,
                                     const std::vector<CXCursor>& children, int count);
  std::unique_ptr<Node> Launch(CXCursor cursor, CXCursor configuration, const NodeExtent& extent);

  std::string_view text_;
  int depth_ = 0;
};

}  // namespace warpwright::source

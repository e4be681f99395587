// From libclang's cursors to the nodes of syntax.h: what BuildSyntax consists of.
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
  bool in_macro = false;  // one end is spelt in a macro's body
};
NodeExtent NodeExtentOf(CXCursor cursor);

// A part of another expression and no expression itself, as the type in T(x).
bool IsPartReference(CXCursorKind kind);

class SyntaxBuilder {
 public:
  explicit SyntaxBuilder(std::string_view text) : text_(text) {}
  std::unique_ptr<Node> Build(CXCursor cursor, const NodeExtent* around = nullptr);

 private:
  // What stands in another file (default arguments) has no place in this one.
  NodeExtent Within(CXCursor cursor) const;
  static constexpr int kMaxDepth = 400;  // of untrusted input; deeper expressions stay opaque
  std::unique_ptr<Node> Make(NodeKind kind, CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Empty(uint32_t at);
  void AddChildren(Node& node, const std::vector<CXCursor>& cursors);
  std::unique_ptr<Node> Dispatch(CXCursorKind kind, CXCursor cursor, const NodeExtent& extent,
                                 const NodeExtent* around);
  std::unique_ptr<Node> Simple(NodeKind kind, CXCursor cursor, const NodeExtent& extent);
  // The operand comes last; before it stand constants of the type, as the 4 of Vector<T, 4>.
  std::unique_ptr<Node> Cast(CXCursor cursor, const NodeExtent& extent);
  std::string SymbolOf(CXCursor declaration);
  std::unique_ptr<Node> Variable(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> If(CXCursor cursor, const NodeExtent& extent);
  // libclang leaves absent parts out; which ones are there follows from the two semicolons.
  std::unique_ptr<Node> For(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Name(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Member(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Binary(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Unary(CXCursor cursor, const NodeExtent& extent);
  // The node inside, with the range of the parentheses.
  std::unique_ptr<Node> Paren(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Unexposed(CXCursorKind kind, CXCursor cursor, const NodeExtent& extent,
                                  const NodeExtent* around);
  // Clang keeps what it could not resolve as a list of parts; a call to an unknown function is still a call.
  std::unique_ptr<Node> Unresolved(CXCursor cursor, const NodeExtent& extent, const std::vector<CXCursor>& children);
  std::string CalleeName(CXCursor cursor, const NodeExtent& extent);
  std::unique_ptr<Node> Call(CXCursor cursor, const NodeExtent& extent, const NodeExtent* around);
  // The operator of a call in a template that nothing resolves yet: between the operands, or before the only one. A
  // call by name begins with the name, not with its first argument.
  std::string SpeltOperator(CXCursor cursor, const NodeExtent& extent, int count);
  // Copies, conversions and moves are invisible: one argument that spells the same text.
  std::unique_ptr<Node> Construct(CXCursor cursor, const NodeExtent& extent, const NodeExtent* around,
                                  const std::vector<CXCursor>& children, int count);
  std::unique_ptr<Node> OperatorCall(CXCursor cursor, const NodeExtent& extent, const std::string& name,
                                     const std::vector<CXCursor>& children, int count);
  std::unique_ptr<Node> Launch(CXCursor cursor, CXCursor configuration, const NodeExtent& extent);

  std::string_view text_;
  int depth_ = 0;
};

}  // namespace warpwright::source

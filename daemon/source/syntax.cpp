#include "source/syntax.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace warpwright {
namespace {

std::string ToString(CXString text) {
  const char* raw = clang_getCString(text);
  std::string result = raw == nullptr ? "" : raw;
  clang_disposeString(text);
  return result;
}

std::vector<CXCursor> ChildrenOf(CXCursor cursor) {
  std::vector<CXCursor> children;
  clang_visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData data) {
        static_cast<std::vector<CXCursor>*>(data)->push_back(child);
        return CXChildVisit_Continue;
      },
      &children);
  return children;
}

struct Extent {
  uint32_t begin = 0, end = 0;
  bool in_macro = false;  // one end is spelt in a macro's body
};

Extent ExtentOf(CXCursor cursor) {
  const CXSourceRange range = clang_getCursorExtent(cursor);
  const auto offsets = [](CXSourceLocation location) {
    unsigned file = 0, spelling = 0;
    CXFile spelled_in = nullptr, stands_in = nullptr;
    clang_getFileLocation(location, &stands_in, nullptr, nullptr, &file);
    clang_getSpellingLocation(location, &spelled_in, nullptr, nullptr, &spelling);
    return std::pair(file, file != spelling || stands_in != spelled_in);
  };
  const auto [begin, begin_macro] = offsets(clang_getRangeStart(range));
  const auto [end, end_macro] = offsets(clang_getRangeEnd(range));
  return {begin, std::max(begin, end), begin_macro || end_macro};
}

bool IsReference(CXCursorKind kind) { return clang_isReference(kind) && kind != CXCursor_OverloadedDeclRef; }

std::string TypeOf(CXCursor cursor) { return ToString(clang_getTypeSpelling(clang_getCursorType(cursor))); }

// From the position of an opening bracket to its partner's, over comments and literals; npos where there is none.
size_t MatchingBracket(std::string_view text, size_t open, std::vector<size_t>* semicolons) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      i = text.find('\n', i);
      if (i == std::string_view::npos) return i;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      i = text.find("*/", i + 2);
      if (i == std::string_view::npos) return i;
      ++i;
    } else if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0) return i;
    } else if (c == ';' && depth == 1 && semicolons != nullptr) {
      semicolons->push_back(i);
    }
  }
  return std::string_view::npos;
}

class Builder {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  std::unique_ptr<Node> Build(CXCursor cursor, const Extent* around = nullptr) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    const Extent extent = Within(cursor);
    if (++depth_ > kMaxDepth) {
      --depth_;
      return Make(NodeKind::kOther, cursor, extent);
    }
    std::unique_ptr<Node> node = Dispatch(kind, cursor, extent, around);
    --depth_;
    return node;
  }

 private:
  // What stands in another file (default arguments) has no place in this one.
  Extent Within(CXCursor cursor) const {
    const Extent extent = ExtentOf(cursor);
    return extent.end <= text_.size() ? extent : Extent{};
  }

  static constexpr int kMaxDepth = 400;  // of untrusted input; deeper expressions stay opaque

  std::unique_ptr<Node> Make(NodeKind kind, CXCursor cursor, const Extent& extent) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->cursor = cursor;
    node->begin = extent.begin;
    node->end = std::min<uint32_t>(extent.end, static_cast<uint32_t>(text_.size()));
    node->whole = !extent.in_macro;
    node->in_macro = extent.in_macro;
    unsigned line = 0;
    clang_getFileLocation(clang_getCursorLocation(cursor), nullptr, &line, nullptr, nullptr);
    node->line = static_cast<int>(line);
    if (clang_isExpression(clang_getCursorKind(cursor))) node->type = TypeOf(cursor);
    return node;
  }
  std::unique_ptr<Node> Empty(uint32_t at) {
    auto node = std::make_unique<Node>();
    node->kind = NodeKind::kEmpty;
    node->begin = node->end = at;
    return node;
  }
  void AddChildren(Node& node, const std::vector<CXCursor>& cursors) {
    for (const CXCursor& child : cursors)
      if (!IsReference(clang_getCursorKind(child)) && !clang_isAttribute(clang_getCursorKind(child)))
        node.children.push_back(Build(child));
  }

  std::unique_ptr<Node> Dispatch(CXCursorKind kind, CXCursor cursor, const Extent& extent, const Extent* around) {
    switch (kind) {
      case CXCursor_CompoundStmt:
        return Simple(NodeKind::kBlock, cursor, extent);
      case CXCursor_DeclStmt:
        return Simple(NodeKind::kDeclaration, cursor, extent);
      case CXCursor_VarDecl:
        return Variable(cursor, extent);
      case CXCursor_IfStmt:
        return If(cursor, extent);
      case CXCursor_ForStmt:
        return For(cursor, extent);
      case CXCursor_WhileStmt:
        return Simple(NodeKind::kWhile, cursor, extent);
      case CXCursor_DoStmt:
        return Simple(NodeKind::kDo, cursor, extent);
      case CXCursor_ReturnStmt:
        return Simple(NodeKind::kReturn, cursor, extent);
      case CXCursor_BreakStmt:
        return Simple(NodeKind::kBreak, cursor, extent);
      case CXCursor_ContinueStmt:
        return Simple(NodeKind::kContinue, cursor, extent);
      case CXCursor_SwitchStmt:
        return Simple(NodeKind::kSwitch, cursor, extent);
      case CXCursor_CaseStmt:
      case CXCursor_DefaultStmt:
        return Simple(NodeKind::kCase, cursor, extent);
      case CXCursor_NullStmt:
        return Empty(extent.begin);
      case CXCursor_DeclRefExpr:
        return Name(cursor, extent);
      case CXCursor_MemberRefExpr:
        return Member(cursor, extent);
      case CXCursor_ArraySubscriptExpr:
        return Simple(NodeKind::kSubscript, cursor, extent);
      case CXCursor_CallExpr:
        return Call(cursor, extent, around);
      case CXCursor_BinaryOperator:
      case CXCursor_CompoundAssignOperator:
        return Binary(cursor, extent);
      case CXCursor_UnaryOperator:
        return Unary(cursor, extent);
      case CXCursor_ConditionalOperator:
        return Simple(NodeKind::kConditional, cursor, extent);
      case CXCursor_IntegerLiteral:
      case CXCursor_CXXBoolLiteralExpr:
      case CXCursor_CharacterLiteral:
        return Simple(NodeKind::kInteger, cursor, extent);
      case CXCursor_FloatingLiteral:
        return Simple(NodeKind::kFloating, cursor, extent);
      case CXCursor_CStyleCastExpr:
      case CXCursor_CXXStaticCastExpr:
      case CXCursor_CXXReinterpretCastExpr:
      case CXCursor_CXXConstCastExpr:
      case CXCursor_CXXFunctionalCastExpr:
        return Cast(cursor, extent);
      case CXCursor_InitListExpr:
        return Simple(NodeKind::kInitList, cursor, extent);
      case CXCursor_UnaryExpr:
        return Simple(NodeKind::kSizeof, cursor, extent);
      case CXCursor_LambdaExpr:
        return Simple(NodeKind::kLambda, cursor, extent);
      case CXCursor_ParenExpr:
        return Paren(cursor, extent);
      case CXCursor_UnexposedExpr:
      case CXCursor_UnexposedStmt:
        return Unexposed(kind, cursor, extent, around);
      default:
        return Simple(NodeKind::kOther, cursor, extent);
    }
  }

  std::unique_ptr<Node> Simple(NodeKind kind, CXCursor cursor, const Extent& extent) {
    auto node = Make(kind, cursor, extent);
    AddChildren(*node, ChildrenOf(cursor));
    return node;
  }

  // The operand comes last; before it stand constants of the type, as the 4 of Vector<T, 4>.
  std::unique_ptr<Node> Cast(CXCursor cursor, const Extent& extent) {
    auto node = Simple(NodeKind::kCast, cursor, extent);
    if (node->size() > 1) node->children.erase(node->children.begin(), node->children.end() - 1);
    return node;
  }

  std::string SymbolOf(CXCursor declaration) {
    const std::string name = ToString(clang_getCursorSpelling(declaration));
    const CXCursorKind kind = clang_getCursorKind(declaration);
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl) return name;
    const CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(declaration));
    const bool local = parent == CXCursor_FunctionDecl || parent == CXCursor_FunctionTemplate ||
                       parent == CXCursor_CXXMethod || parent == CXCursor_LambdaExpr || kind == CXCursor_ParmDecl;
    if (!local) return name;
    unsigned offset = 0;
    clang_getFileLocation(clang_getCursorLocation(declaration), nullptr, nullptr, nullptr, &offset);
    return name + "@" + std::to_string(offset);
  }

  std::unique_ptr<Node> Variable(CXCursor cursor, const Extent& extent) {
    auto node = Make(NodeKind::kVariable, cursor, extent);
    node->name = ToString(clang_getCursorSpelling(cursor));
    node->symbol = SymbolOf(cursor);
    node->type = TypeOf(cursor);
    const CXCursor initializer = clang_Cursor_getVarDeclInitializer(cursor);
    if (!clang_Cursor_isNull(initializer)) node->children.push_back(Build(initializer, &extent));
    return node;
  }

  std::unique_ptr<Node> If(CXCursor cursor, const Extent& extent) {
    auto node = Simple(NodeKind::kIf, cursor, extent);
    if (node->size() == 2) node->children.push_back(Empty(node->end));
    if (node->size() != 3) node->kind = NodeKind::kOther;  // an initializer or a condition variable
    return node;
  }

  // libclang leaves absent parts out; which ones are there follows from the two semicolons.
  std::unique_ptr<Node> For(CXCursor cursor, const Extent& extent) {
    auto node = Make(NodeKind::kFor, cursor, extent);
    std::vector<size_t> semicolons;
    const size_t open = text_.find('(', extent.begin);
    const size_t close = open == std::string_view::npos ? open : MatchingBracket(text_, open, &semicolons);
    const std::vector<CXCursor> parts = ChildrenOf(cursor);
    if (extent.in_macro || close == std::string_view::npos || semicolons.size() != 2) {
      node->kind = NodeKind::kOther;
      AddChildren(*node, parts);
      return node;
    }
    std::array<std::unique_ptr<Node>, 4> slots;
    for (const CXCursor& part : parts) {
      const Extent at = Within(part);
      const size_t slot = at.begin > close           ? kLoopBody
                          : at.begin > semicolons[1] ? kLoopIncrement
                          : at.begin > semicolons[0] ? kLoopCondition
                                                     : kLoopInit;
      slots[slot] = Build(part);
    }
    const std::array<size_t, 4> at = {open + 1, semicolons[0] + 1, semicolons[1] + 1, close + 1};
    for (size_t i = 0; i < slots.size(); ++i)
      node->children.push_back(slots[i] ? std::move(slots[i]) : Empty(static_cast<uint32_t>(at[i])));
    return node;
  }

  std::unique_ptr<Node> Name(CXCursor cursor, const Extent& extent) {
    auto node = Make(NodeKind::kName, cursor, extent);
    const CXCursor declaration = clang_getCursorReferenced(cursor);
    node->name = ToString(clang_getCursorSpelling(cursor));
    node->symbol = clang_Cursor_isNull(declaration) ? node->name : SymbolOf(declaration);
    return node;
  }

  std::unique_ptr<Node> Member(CXCursor cursor, const Extent& extent) {
    auto node = Simple(NodeKind::kMember, cursor, extent);
    node->name = ToString(clang_getCursorSpelling(cursor));
    if (node->size() == 1 && ((*node)[0].Is(NodeKind::kName) || (*node)[0].Is(NodeKind::kMember)))
      node->name = (*node)[0].name + "." + node->name;
    return node;
  }

  std::unique_ptr<Node> Binary(CXCursor cursor, const Extent& extent) {
    const CXBinaryOperatorKind op = clang_getCursorBinaryOperatorKind(cursor);
    const bool assigns = op >= CXBinaryOperator_Assign && op <= CXBinaryOperator_OrAssign;
    auto node = Simple(assigns ? NodeKind::kAssign : NodeKind::kBinary, cursor, extent);
    node->name = ToString(clang_getBinaryOperatorKindSpelling(op));
    return node;
  }

  std::unique_ptr<Node> Unary(CXCursor cursor, const Extent& extent) {
    const CXUnaryOperatorKind op = clang_getCursorUnaryOperatorKind(cursor);
    const bool steps = op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec;
    auto node = Simple(steps ? NodeKind::kAssign : NodeKind::kUnary, cursor, extent);
    node->name = ToString(clang_getUnaryOperatorKindSpelling(op));
    return node;
  }

  // The node inside, with the range of the parentheses.
  std::unique_ptr<Node> Paren(CXCursor cursor, const Extent& extent) {
    const std::vector<CXCursor> children = ChildrenOf(cursor);
    if (children.size() != 1) return Simple(NodeKind::kOther, cursor, extent);
    auto node = Build(children[0]);
    if (extent.in_macro && !node->in_macro) return node;  // (x) in a macro's body: the argument is spelt by itself
    node->begin = extent.begin;
    node->end = extent.end;
    node->whole = !extent.in_macro;
    node->in_macro = extent.in_macro;
    return node;
  }

  std::unique_ptr<Node> Unexposed(CXCursorKind kind, CXCursor cursor, const Extent& extent, const Extent* around) {
    std::vector<CXCursor> children = ChildrenOf(cursor);
    std::erase_if(children, [](CXCursor c) { return IsReference(clang_getCursorKind(c)); });
    if (children.empty()) {
      if (extent.end == 0) return Empty(0);  // a default argument
      auto node = Make(NodeKind::kOther, cursor, extent);
      node->name = ToString(clang_getCursorSpelling(cursor));
      return node;
    }
    if (children.size() > 1) return Unresolved(cursor, extent, children);
    auto node = Build(children[0], around);
    if (kind == CXCursor_UnexposedStmt && extent.begin < node->begin)
      node->unrolled = text_.substr(extent.begin, node->begin - extent.begin).find("unroll") != std::string_view::npos;
    return node;
  }

  // Clang keeps what it could not resolve as a list of parts; a call to an unknown function is still a call.
  std::unique_ptr<Node> Unresolved(CXCursor cursor, const Extent& extent, const std::vector<CXCursor>& children) {
    auto node = Simple(NodeKind::kOther, cursor, extent);
    const bool named = (*node)[0].Is(NodeKind::kName) || clang_getCursorKind(children[0]) == CXCursor_OverloadedDeclRef;
    if (!named || extent.end == 0 || text_[extent.end - 1] != ')') return node;
    node->kind = NodeKind::kCall;
    node->name = CalleeName(cursor, extent);
    node->children.erase(node->children.begin());
    return node;
  }

  std::string CalleeName(CXCursor cursor, const Extent& extent) {
    std::string name = ToString(clang_getCursorSpelling(cursor));
    if (!name.empty()) return name;
    for (const CXCursor& child : ChildrenOf(cursor)) {
      name = ToString(clang_getCursorSpelling(child));
      if (!name.empty()) return name;
      for (const CXCursor& inner : ChildrenOf(child))
        if (clang_getCursorKind(inner) == CXCursor_OverloadedDeclRef) return ToString(clang_getCursorSpelling(inner));
      break;
    }
    size_t end = extent.begin;  // an unresolved name: as spelt
    while (end < extent.end &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_' || text_[end] == ':'))
      ++end;
    return std::string(text_.substr(extent.begin, end - extent.begin));
  }

  std::unique_ptr<Node> Call(CXCursor cursor, const Extent& extent, const Extent* around) {
    const std::vector<CXCursor> children = ChildrenOf(cursor);
    if (children.size() > 1 && clang_getCursorKind(children[1]) == CXCursor_CallExpr) {
      const std::string second = ToString(clang_getCursorSpelling(children[1]));
      if (second == "cudaConfigureCall" || second == "__cudaPushCallConfiguration")
        return Launch(cursor, children[1], extent);
    }
    const int count = clang_Cursor_getNumArguments(cursor);
    const std::string name = CalleeName(cursor, extent);
    if (name.starts_with("operator")) return OperatorCall(cursor, extent, name, children, count);
    if (const std::string op = SpeltOperator(cursor, extent, count); !op.empty())
      return OperatorCall(cursor, extent, "operator" + op, children, count);
    const CXCursor target = clang_getCursorReferenced(cursor);
    const CXCursorKind target_kind = clang_getCursorKind(target);
    const bool type_named = !children.empty() && clang_getCursorKind(children[0]) == CXCursor_TypeRef;
    if (target_kind == CXCursor_Constructor || (clang_Cursor_isNull(target) && type_named) || type_named)
      return Construct(cursor, extent, around, children, count);
    auto node = Make(NodeKind::kCall, cursor, extent);
    node->name = name;
    if (!children.empty() && clang_getCursorKind(children[0]) == CXCursor_MemberRefExpr) {  // a method
      node->name = "." + name;
      AddChildren(*node, ChildrenOf(children[0]));
    }
    for (int i = 0; i < count; ++i)
      node->children.push_back(Build(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i))));
    return node;
  }

  // The operator of a call in a template that nothing resolves yet: between the operands, or before the only one. A
  // call by name begins with the name, not with its first argument.
  std::string SpeltOperator(CXCursor cursor, const Extent& extent, int count) {
    if (count < 1 || count > 2 || extent.in_macro) return "";
    const Extent first = Within(clang_Cursor_getArgument(cursor, 0));
    std::string_view between;
    if (count == 2 && first.begin == extent.begin) {
      const Extent second = Within(clang_Cursor_getArgument(cursor, 1));
      if (second.begin > first.end) between = text_.substr(first.end, second.begin - first.end);
      if (text_.substr(first.end, 1) == "[") return "[]";
    } else if (count == 1 && first.end == extent.end && first.begin > extent.begin) {
      between = text_.substr(extent.begin, first.begin - extent.begin);
    }
    std::string op;
    for (char c : between) {
      if (std::isspace(static_cast<unsigned char>(c))) continue;
      if (!std::ispunct(static_cast<unsigned char>(c)) || c == '(' || c == '_') return "";
      op += c;
    }
    return op;
  }

  // Copies, conversions and moves are invisible: one argument that spells the same text.
  std::unique_ptr<Node> Construct(CXCursor cursor, const Extent& extent, const Extent* around,
                                  const std::vector<CXCursor>& children, int count) {
    std::vector<CXCursor> arguments;
    for (int i = 0; i < count; ++i) arguments.push_back(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i)));
    if (count <= 0 && children.size() == 2 && clang_isExpression(clang_getCursorKind(children[1])))
      arguments = {children[1]};
    std::vector<CXCursor> given;
    for (const CXCursor& argument : arguments)
      if (Within(argument).end != 0) given.push_back(argument);
    const bool direct = around != nullptr && extent.begin >= around->begin;  // T x(a): the range starts at the name
    if (given.size() == 1) {
      const Extent inner = Within(given[0]);
      if (inner.begin == extent.begin && inner.end == extent.end) return Build(given[0]);
    }
    const bool cast =
        given.size() == 1 && !direct && !children.empty() && clang_getCursorKind(children[0]) == CXCursor_TypeRef;
    auto node = Make(cast ? NodeKind::kCast : NodeKind::kConstruct, cursor, extent);
    for (const CXCursor& argument : given) node->children.push_back(Build(argument));
    return node;
  }

  std::unique_ptr<Node> OperatorCall(CXCursor cursor, const Extent& extent, const std::string& name,
                                     const std::vector<CXCursor>& children, int count) {
    const std::string op = name.substr(8);
    std::vector<std::unique_ptr<Node>> operands;
    if (!children.empty() && clang_getCursorKind(children[0]) == CXCursor_MemberRefExpr && count <= 0) {
      auto conversion = Build(children[0]);  // x.operator float(): the operand itself
      if (conversion->Is(NodeKind::kMember) && conversion->size() == 1) return std::move(conversion->children[0]);
      return conversion;
    }
    for (int i = 0; i < count; ++i)
      operands.push_back(Build(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i))));
    static const std::map<std::string, NodeKind> kKinds = {
        {"=", NodeKind::kAssign},  {"+=", NodeKind::kAssign}, {"-=", NodeKind::kAssign}, {"*=", NodeKind::kAssign},
        {"/=", NodeKind::kAssign}, {"++", NodeKind::kAssign}, {"--", NodeKind::kAssign}, {"[]", NodeKind::kSubscript},
        {"+", NodeKind::kBinary},  {"-", NodeKind::kBinary},  {"*", NodeKind::kBinary},  {"/", NodeKind::kBinary},
        {"<", NodeKind::kBinary},  {">", NodeKind::kBinary},  {"<=", NodeKind::kBinary}, {">=", NodeKind::kBinary},
        {"==", NodeKind::kBinary}, {"!=", NodeKind::kBinary}, {"%", NodeKind::kBinary}};
    const auto found = kKinds.find(op);
    NodeKind kind = found == kKinds.end() ? NodeKind::kCall : found->second;
    if (kind == NodeKind::kBinary && operands.size() == 1) kind = NodeKind::kUnary;
    auto node = Make(kind, cursor, extent);
    node->name = kind == NodeKind::kCall ? name : op;
    if ((op == "++" || op == "--") && operands.size() == 2) operands.pop_back();  // the int of the postfix form
    node->children = std::move(operands);
    return node;
  }

  std::unique_ptr<Node> Launch(CXCursor cursor, CXCursor configuration, const Extent& extent) {
    auto node = Make(NodeKind::kLaunch, cursor, extent);
    node->name = CalleeName(cursor, extent);
    const int parts = clang_Cursor_getNumArguments(configuration);
    for (int i = 0; i < 4; ++i) {
      auto part =
          i < parts ? Build(clang_Cursor_getArgument(configuration, static_cast<unsigned>(i))) : Empty(extent.begin);
      if (part->end == 0) part = Empty(extent.begin);
      node->children.push_back(std::move(part));
    }
    const int count = clang_Cursor_getNumArguments(cursor);
    for (int i = 0; i < count; ++i) {
      auto argument = Build(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i)));
      if (argument->end != 0) node->children.push_back(std::move(argument));
    }
    return node;
  }

  std::string_view text_;
  int depth_ = 0;
};

// Only the outermost node of a macro's expansion spells what its range says.
void Finish(Node& node, const Node* parent) {
  node.parent = parent;
  if (!node.whole) {
    const bool same_as_parent = parent != nullptr && parent->begin == node.begin && parent->end == node.end;
    node.whole = !same_as_parent && node.end > node.begin;
  }
  for (auto& child : node.children) Finish(*child, &node);
}

}  // namespace

std::optional<SyntaxFunction> BuildSyntax(CXCursor function) {
  CXCursor body = clang_getNullCursor();
  SyntaxFunction result;
  const Extent extent = ExtentOf(function);
  CXFile file = nullptr;
  clang_getFileLocation(clang_getCursorLocation(function), &file, nullptr, nullptr, nullptr);
  size_t size = 0;
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(function);
  const char* content = file == nullptr ? nullptr : clang_getFileContents(unit, file, &size);
  if (content == nullptr) return std::nullopt;
  result.text = std::string_view(content, size);
  result.file = ToString(clang_getFileName(file));
  result.name = ToString(clang_getCursorSpelling(function));
  result.cursor = function;
  result.begin = extent.begin;
  result.end = extent.end;
  for (const CXCursor& child : ChildrenOf(function)) {
    if (clang_getCursorKind(child) == CXCursor_CompoundStmt) body = child;
    if (clang_getCursorKind(child) != CXCursor_ParmDecl) continue;
    SyntaxParameter parameter;
    const Extent at = ExtentOf(child);
    unsigned offset = 0;
    clang_getFileLocation(clang_getCursorLocation(child), nullptr, nullptr, nullptr, &offset);
    parameter.name = ToString(clang_getCursorSpelling(child));
    parameter.type = ToString(clang_getTypeSpelling(clang_getCursorType(child)));
    parameter.symbol = parameter.name + "@" + std::to_string(offset);
    parameter.begin = at.begin;
    parameter.end = at.end;
    parameter.cursor = child;
    result.parameters.push_back(std::move(parameter));
  }
  if (clang_Cursor_isNull(body)) return std::nullopt;
  result.body = Builder(result.text).Build(body);
  Finish(*result.body, nullptr);
  return result;
}

void ForEach(const Node& root, const std::function<void(const Node&)>& visit) {
  visit(root);
  for (const auto& child : root.children) ForEach(*child, visit);
}

void Walk(const Node& root, const std::function<bool(const Node&)>& visit) {
  if (!visit(root)) return;
  for (const auto& child : root.children) Walk(*child, visit);
}

std::vector<const Node*> Collect(const Node& root, NodeKind kind) {
  std::vector<const Node*> found;
  ForEach(root, [&](const Node& node) {
    if (node.Is(kind)) found.push_back(&node);
  });
  return found;
}

bool Contains(const Node& ancestor, const Node& node) {
  for (const Node* at = &node; at != nullptr; at = at->parent)
    if (at == &ancestor) return true;
  return false;
}

}  // namespace warpwright

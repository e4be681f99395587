// A function body as a small tree of what analyses need: statements, accesses, calls, launches.
//
// libclang's own tree wraps expressions in implicit casts, parentheses, copies and conversions, omits empty parts of a
// `for`, and shows operators of class types as calls. Here all of that is normalized: `x = __half(a) + b` is an
// assignment of a sum regardless of the types, a loop always has four children, a launch its grid, block, shared bytes,
// stream and arguments.
//
// Offsets are in bytes of the file that contains the function. A node from a macro's body has the range of the whole
// invocation; `whole` means that the range spells exactly this node, so that its text may be copied or replaced.
#pragma once

#include <clang-c/Index.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::source {

enum class NodeKind {
  // Statements. Optional parts that are absent are kEmpty.
  kBlock,        // children: statements
  kDeclaration,  // children: kVariable
  kVariable,     // name, type; children: initializer, if any
  kIf,           // condition, then, else
  kFor,          // initialization, condition, increment, body
  kWhile,        // condition, body
  kDo,           // body, condition
  kReturn,
  kBreak,
  kContinue,
  kSwitch,
  kCase,
  kEmpty,
  // Expressions.
  kName,    // a variable, parameter, constant: name
  kMember,  // base.name; `name` is the path if the base is a name: "threadIdx.x"
  kInteger,
  kFloating,
  kSubscript,    // base, index
  kCall,         // name: the callee; children: arguments. A method: the object is the first child, name is ".method"
  kConstruct,    // T(a, b), T x(a, b), T{a}: type; children: arguments
  kLaunch,       // name: the kernel; children: grid, block, shared bytes, stream, then arguments
  kUnary,        // name: operator; ++ and -- are kAssign
  kBinary,       // name: operator
  kAssign,       // name: "=", "+=", "++", ...; children: target, value (none for ++ and --)
  kConditional,  // condition, then, else
  kCast,         // type; child: operand
  kInitList,
  kSizeof,
  kLambda,
  kOther,
};

struct Node {
  NodeKind kind = NodeKind::kOther;
  std::string name;
  std::string type;             // of a variable, an expression, a cast: as spelled by clang, with aliases
  uint32_t begin = 0, end = 0;  // bytes [begin, end)
  int line = 0;
  bool whole = true;
  bool in_macro = false;  // one of its ends is spelled in a macro's body
  bool unrolled = false;  // a loop under #pragma unroll
  CXCursor cursor = {};
  std::string symbol;  // kName, kVariable: "name" outside functions, "name@offset" of a parameter or a local variable
  const Node* parent = nullptr;
  std::vector<std::unique_ptr<Node>> children;

  const Node& operator[](size_t i) const { return *children[i]; }
  size_t size() const { return children.size(); }
  bool Is(NodeKind k) const { return kind == k; }
  bool Is(NodeKind k, std::string_view n) const { return kind == k && name == n; }
};

// Indices of the children of a loop and of a conditional.
enum LoopPart : size_t { kLoopInit, kLoopCondition, kLoopIncrement, kLoopBody };
enum IfPart : size_t { kIfCondition, kIfThen, kIfElse };
enum LaunchPart : size_t { kLaunchGrid, kLaunchBlock, kLaunchShared, kLaunchStream, kLaunchArguments };

struct SyntaxParameter {
  std::string name, type, symbol;
  uint32_t begin = 0, end = 0;
  CXCursor cursor = {};
};

// A function with a body. Movable; the addresses of its nodes do not change.
struct SyntaxFunction {
  std::string name;  // unqualified
  CXCursor cursor = {};
  std::string file;             // as named by libclang
  std::string_view text;        // of the file; lives as long as the translation unit
  uint32_t begin = 0, end = 0;  // of the whole declaration, `template <...>` and `extern "C"` without braces included
  std::vector<SyntaxParameter> parameters;
  std::unique_ptr<Node> body;

  std::string_view Text(const Node& node) const { return text.substr(node.begin, node.end - node.begin); }
};

// `function` is a FunctionDecl, CXXMethod or FunctionTemplate. Nothing if it has no body.
std::optional<SyntaxFunction> BuildSyntax(CXCursor function);

// Pre-order. The first form visits every node; the second does not descend into a node for which `visit` returns false.
void ForEach(const Node& root, const std::function<void(const Node&)>& visit);
void Walk(const Node& root, const std::function<bool(const Node&)>& visit);
std::vector<const Node*> Collect(const Node& root, NodeKind kind);
bool Contains(const Node& ancestor, const Node& node);

}  // namespace warpwright::source

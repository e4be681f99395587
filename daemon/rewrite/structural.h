// Shared by the two structural transformations (row_parallel, tile_matmul): refusals that name a line, queries about
// expressions and side effects, and global memory accesses as base and index.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "rewrite/launch.h"
#include "rewrite/site.h"

namespace warpwright::rewrite {

template <typename T>
using Checked = tl::expected<T, core::RewriteRefusal>;
// The line, if known, becomes part of the text: "calls printf (line 12)".
tl::unexpected<core::RewriteRefusal> RefuseAt(int line, std::string reason);

// The same computation: equal operations on equal variables and literals; parentheses and white space are ignored.
bool SameExpression(const source::SyntaxFunction& function, const source::Node& a, const source::Node& b);
bool MentionsSymbol(const source::Node& root, const std::string& symbol);
// A literal zero or one, also after a sign or a conversion: 0, 0.f, T(0), static_cast<float>(0).
bool IsLiteral(const source::SyntaxFunction& function, const source::Node& expression, double value);
// The statement with its semicolon; with the #pragma lines directly above it.
uint32_t StatementBegin(const source::SyntaxFunction& function, const source::Node& statement);
uint32_t StatementEnd(const source::SyntaxFunction& function, const source::Node& statement);

// What prevents an expression from being computed by several threads, in another place, or more often than in the
// source: a call with effects, an assignment inside it, something that the parser could not read. Nothing if it only
// computes a value.
std::optional<core::RewriteRefusal> ImpureExpression(const source::Ast& ast, const source::Node& expression);
// __stcs(pointer, value) and similar.
bool IsStoreCall(const source::Node& node);

struct MemoryAccess {
  const source::Node* node = nullptr;
  std::string base;                         // symbol; empty: unknown
  std::optional<source::Polynomial> index;  // nothing: unknown
  bool reads = false, writes = false;
  bool is_restrict = false;  // the base is a __restrict__ parameter
  std::string element;       // canonical type of the elements, without qualifiers
  int line = 0;
};
// Accesses to global memory; arrays that the function itself declares are excluded.
std::vector<MemoryAccess> GlobalAccesses(const AnalyzedFunction& function, const source::Node& root);
// threadIdx.x, blockDim.y, ...
bool IsThreadOrBlockIndex(const source::Node& node);
// blockIdx.<axis> * (something uniform) + threadIdx.<axis>
bool IsThreadIndex(const source::FunctionAnalysis& analysis, const source::Node& expression, const std::string& axis);
// Declarations of single variables that read the thread's position and are used only to compute `consumers`: int tid =
// threadIdx.x;
std::vector<const source::Node*> DeclarationsUsedOnlyBy(const AnalyzedFunction& kernel,
                                                        const std::vector<const source::Node*>& consumers);
// Why the threads of a block already depend on each other: shared memory, barriers, shuffles, atomics, jumps. `where`
// completes "already parallel ...".
std::optional<core::RewriteRefusal> UsesBlockCooperation(const AnalyzedFunction& kernel, std::string_view where);
// Whether two bases can be the same memory at all: not if either is __restrict__ or the element types differ.
bool MayAlias(const MemoryAccess& a, const MemoryAccess& b);

// Without outer parentheses.
std::string Unwrapped(const std::string& expression);
// ceil(count / divisor) for the host, by the launcher's own function or macro (ceil_div, CEIL_DIV) if its grid uses
// one.
std::string CeilDivText(const LaunchSite& launch, const std::string& count, int divisor);

// Replaces the kernel by `kernel_text`, or inserts it after the kernel if others still use that, and puts `helpers`
// above it; renames the launches.
void InsertRewrittenKernel(const KernelSite& site, const std::string& name, const std::string& kernel_text,
                           const std::string& helpers, Edits& edits);
// Adds the edits that rename the kernel and remove its __launch_bounds__, which was for another block size.
void AdaptKernelHead(const source::SyntaxFunction& kernel, const std::string& name, Edits& edits);

}  // namespace warpwright::rewrite

// Where a transformation works: the kernel, the launches that reach it from the entry, and everyone else who uses it.
//
// A structural rewrite must not change what other entries launch. So either every use of the kernel lies behind the
// entry, and the kernel is rewritten in place, or the rewritten kernel gets a fresh name and stands beside the old one
// (KernelSite::shared).
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/evaluator.h"
#include "rewrite/edit.h"
#include "source/analysis.h"
#include "source/ast.h"

namespace warpwright::rewrite {

// A function of the file with its analysis.
struct AnalyzedFunction {
  explicit AnalyzedFunction(source::SyntaxFunction f) : syntax(std::move(f)), analysis(syntax) {}
  AnalyzedFunction(const AnalyzedFunction&) = delete;
  source::SyntaxFunction syntax;
  source::FunctionAnalysis analysis;
};

struct LaunchSite {
  const source::Node* launch = nullptr;  // kLaunch
  const AnalyzedFunction* host = nullptr;
};

struct KernelSite {
  std::string_view text;  // of the file
  std::string unit;       // its indentation
  std::unique_ptr<AnalyzedFunction> kernel;
  std::vector<std::unique_ptr<AnalyzedFunction>> hosts;  // functions of the file behind the entry, the entry first
  std::vector<LaunchSite> launches;                      // of the kernel, from these
  std::vector<LaunchSite> mentions;  // other uses of its name in these, as kName: cudaFuncSetAttribute(kernel, ...)
  std::vector<std::unique_ptr<AnalyzedFunction>>
      other_hosts;                         // functions of the file that launch it but are not behind the entry
  std::vector<LaunchSite> other_launches;  // from those
  bool shared = false;           // used elsewhere: launched or named by functions that are not behind the entry
  bool entry_is_kernel = false;  // the manifest gives the launch: `launches` is empty

  const source::SyntaxFunction& function() const { return kernel->syntax; }
  const source::FunctionAnalysis& analysis() const { return kernel->analysis; }
};

using SiteOutcome = std::variant<std::unique_ptr<KernelSite>, core::RewriteRefusal>;

// Refuses what no transformation handles: an unknown entry or kernel, a kernel in a header, a kernel made by a macro,
// several candidates and none named, a launch through a function that other entries share with different needs.
SiteOutcome FindSite(const source::Ast& ast, const core::RewriteRequest& request);

// `base`, or base2, base3... that no identifier of the file or its headers equals.
std::string FreshName(const source::Ast& ast, const std::string& base);

// Does any token of the file equal this identifier?
bool MentionsIdentifier(const source::Ast& ast, std::string_view identifier);

// "ns::Reduce<float>" -> "Reduce".
std::string UnqualifiedName(std::string_view name);

// "template <typename T>\n__global__ void name(T* out, int n)": everything before the body, as spelt, with another
// name.
std::string HeadWithName(const source::SyntaxFunction& kernel, const std::string& name);

// `base` where the kernel is rewritten in place, a fresh `base_suffix` where it stays for others.
std::string NewKernelName(const source::Ast& ast, const KernelSite& site, const std::string& suffix);

// Puts `code` (the whole new kernel, two-space units) in the place of the old kernel, or behind it where it is shared,
// and `helpers` (declarations, an empty line behind each) above the old kernel and its comment; changes the name at the
// launches and mentions behind the entry. Does not touch the launches' parts.
void InsertKernel(const KernelSite& site, const std::string& name, const std::string& helpers, const std::string& code,
                  Edits& edits);

core::RewriteRefusal Refuse(std::string reason, int line = 0);

// Applies the edits; overlaps become a refusal, and so does a result that the parser rejects where it accepted the
// original.
core::RewriteOutcome Finish(const source::Ast& ast, const Edits& edits, std::vector<std::string> notes);

}  // namespace warpwright::rewrite

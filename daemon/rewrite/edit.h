// Text edits by byte offset: collected in any order, applied together; text that no edit covers is unchanged byte for
// byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "source/syntax.h"

namespace warpwright::rewrite {

class Edits {
 public:
  void Replace(uint32_t begin, uint32_t end, std::string text) { edits_.push_back({begin, end, std::move(text)}); }
  void Replace(const source::Node& node, std::string text) { Replace(node.begin, node.end, std::move(text)); }
  // Insertions at one offset appear in the order in which they were added.
  void Insert(uint32_t at, std::string text) { Replace(at, at, std::move(text)); }
  bool empty() const { return edits_.empty(); }

  // Error (kUnsupported) if two edits overlap or one is outside the text.
  Result<std::string> Apply(std::string_view text) const;
  // The same for [begin, end) of the text, which must cover all edits: a node's text with parts replaced.
  Result<std::string> ApplyWithin(std::string_view text, uint32_t begin, uint32_t end) const;

 private:
  struct Edit {
    uint32_t begin, end;
    std::string text;
  };
  std::vector<Edit> edits_;
};

// The text of `node` with each occurrence replaced; an empty string if they overlap, which is a bug in the caller.
struct Substitution {
  const source::Node* node;
  std::string text;
};
std::string Substitute(const source::SyntaxFunction& function, const source::Node& node,
                       const std::vector<Substitution>& substitutions);

// The white space before the first character of the line that holds `offset`.
std::string IndentAt(std::string_view text, uint32_t offset);
// One indentation level of the file: a tab, or the number of spaces of its least indented indented line (two if there
// is none).
std::string IndentUnit(std::string_view text);
// `code` is written with two spaces per level; the result uses the file's unit, after `indent`. Empty lines stay empty,
// lines that begin with '#' go to the margin unchanged. `first`: whether the first line is indented too.
std::string Indented(std::string_view code, std::string_view indent, std::string_view unit, bool first = true);
// Removes the common indentation of all lines but the first; this converts text copied from the file to two-space
// units: Dedented(text, unit).
std::string Dedented(std::string_view code, std::string_view unit);

uint32_t LineBegin(std::string_view text, uint32_t offset);  // of the first character of its line
uint32_t LineEnd(std::string_view text, uint32_t offset);    // after its line break, or the end of the text
// Where the comments directly above `offset` begin, of either kind: a declaration with its description.
uint32_t WithLeadingComment(std::string_view text, uint32_t offset);

}  // namespace warpwright::rewrite

// The token-level rewrites of the host slice: kernel bodies become recording stubs, and launches become calls.
#pragma once

#include <string>
#include <vector>

#include "source/tokens.h"
#include "source/units.h"

namespace warpwright::source {

// Replaces the bytes of `range`; an empty range inserts.
struct TextEdit {
  TextRange range;
  std::string text;
};

// Applies edits in order of position. An edit inside the range of another is dropped: the outer one decides.
std::string ApplyEdits(std::string_view text, std::vector<TextEdit> edits);

// Spaces, but with line breaks and line continuations kept, and also preprocessor lines (except #pragma), which would
// otherwise unbalance the surrounding conditionals.
std::string Blanked(std::string_view text);
// The same for a part of a macro's body: every line but the last is continued, also one that ended within a comment.
std::string BlankedMacro(std::string_view text);

// Replaces what stands between the braces of `unit` by a stub that records the launch (see shim/host/launch.h); unnamed
// parameters get names.
std::vector<TextEdit> StubKernel(std::string_view text, const std::vector<Token>& code, const Unit& unit,
                                 bool overloaded);

// Every k<<<c>>>(a) among the tokens becomes (::ww::Push(c), k(a)).
std::vector<TextEdit> RewriteLaunches(std::string_view text, const std::vector<Token>& tokens);

}  // namespace warpwright::source

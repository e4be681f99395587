// Names that a file has for numbers, so that new code repeats none of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "source/ast.h"

namespace warpwright::rewrite {

// The names in `where`, a part of the file, that stand for numbers at `at` as well, by number: `#define NAME 256`, or a
// constant outside of functions. Of several for one number the first: equal numbers elsewhere mean something else.
std::map<int64_t, std::string> NamedConstants(const source::Ast& ast, const source::TextRange& where, uint32_t at);

}  // namespace warpwright::rewrite

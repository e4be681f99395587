// Text from outside within a prompt: of kernels, logs, names, messages. It is data, whatever it says: every line of it
// stands behind a number or a bar, so that nothing in it can end the block, and no character in it is hidden.
#pragma once

#include <string>
#include <string_view>

namespace warpwright::agents {

// "  12| code": lines with their numbers, from 1. Where several empty ones follow each other, one line with "..." is
// left.
std::string NumberedLines(std::string_view text);
// "| line": at most `max_bytes`, of which the beginning and the end are kept. A long line goes on in the next one.
std::string BarredLines(std::string_view text, size_t max_bytes);
// A name, a path, a message on one line: in quotes, escaped, at most `limit` characters.
std::string Quoted(std::string_view text, size_t limit = 200);

}  // namespace warpwright::agents

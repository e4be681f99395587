// One-thread-per-row kernels in the forms in which they are written; row_parallel must rewrite each.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace warpwright::structural_test {

struct Style {
  std::string name;
  std::string arguments;  // of the entry, in the syntax of DescribeArguments
  std::string kernel;     // device code; the launcher below it
  std::string host;
  std::vector<std::string> kernels;   // to compile
  std::vector<std::string> contains;  // of the text in block mode
  std::vector<std::string> absent;
};

inline std::ostream& operator<<(std::ostream& out, const Style& style) { return out << style.name; }

const std::vector<Style>& RowStyles();

}  // namespace warpwright::structural_test

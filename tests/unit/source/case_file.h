// A test case as one .cu file: leading comment lines say how the entry is called and what the result must be.
//
//   // entry: softmax
//   // buffer: out f32 4810            in the order of the signature; bytes = elements * size;
//                                      a third word "offset=4" shifts the pointer
//   // buffer: n i32 1 = 37            "= ..." gives the content that is served to host reads
//   // scalar: C i32 130
//   // kernel-launch: 4 256            grid and block (expressions), if the entry is a kernel
//   // expect: launch softmax<float>(out, 130) 1x1x1 256x1x1
//                                      one line per operation; "setup:" before operations that are done once
//   // refused: host code reads @ 12   a part of the reason, and the line
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/kernel_spec.h"
#include "source/record.h"

namespace warpwright {

struct SourceCase {
  std::filesystem::path path;
  std::string text;
  core::KernelSpec spec;
  std::map<std::string, core::ScalarValue> scalars;
  std::vector<source::RecordBuffer> buffers;
  std::vector<std::string> expected;
  std::string refusal;
  int refusal_line = 0;
};

SourceCase ReadCase(const std::filesystem::path& path);
// One line per operation, in the format of the "expect:" lines.
std::vector<std::string> Describe(const core::LaunchPlan& plan);

}  // namespace warpwright

// What kernels on tensor cores are made of: device functions as text, each followed by an empty line, and which factors
// they can multiply.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/problem.h"

namespace warpwright::schedule {

// mma.m16n8k16 and cp.async are there.
bool HasTensorCores(const core::Chip& chip);
// The type of the one f16 or bf16 tensor that a product of nodes is, where nothing is computed of it; none: tensor
// cores would have to round.
std::optional<core::DType> TypeOfHalves(const Problem& problem, const core::Stage& stage,
                                        const std::vector<core::NodeId>& nodes);

std::string MultiplyAddText(const std::string& type);  // "__half"
std::string CopyAlignedOctetText(const std::string& type);
std::string CopyOctetText(const std::string& type);  // for places that need not be, with the one above
std::string ZeroOfHalves(const std::string& type);
// The first is what those for copies and matrices call.
extern const std::string_view kSharedAddressText, kLoadMatricesText, kLoadTransposedText, kSwizzledText,
    kCopyGroupsText;

}  // namespace warpwright::schedule

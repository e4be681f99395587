// Reader and writer of safetensors files: 8 bytes little-endian header length, a JSON header, then the raw data.
//
// The reader is strict, because files come from repositories that we do not trust: every tensor's byte range must have
// exactly the size of its shape and dtype, ranges must not overlap or leave gaps, names must not repeat, and everything
// has a limit. What is accepted can be written back with the same content (the header's key order and padding are
// ours). Written for this project, because Debian has no library for the format; its header is JSON, which nlohmann
// reads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/tensor.h"

namespace warpwright::judge {

struct TensorFile {
  std::map<std::string, core::Tensor> tensors;
  std::map<std::string, std::string> metadata;  // "__metadata__"
  bool operator==(const TensorFile&) const = default;
};

inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 1u << 20;

// `name` is the file's name in messages. Errors are kConfig: such files are the repository's.
Result<TensorFile> DecodeSafetensors(std::string_view bytes, const std::string& name);

// Deterministic: tensors in the order of their names, the header padded with spaces to 8 bytes.
std::string EncodeSafetensors(const TensorFile& file);

}  // namespace warpwright::judge

#include "judge/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/json.h"

namespace warpwright::judge {
namespace {

using nlohmann::json;

constexpr size_t kMaxTensors = 4096;
constexpr size_t kMaxRank = 16;
constexpr size_t kMaxNameLength = 512;
constexpr int kMaxDepth = 4;

struct DTypeName {
  core::DType dtype;
  std::string_view name;
};
constexpr DTypeName kDTypeNames[] = {
    {core::DType::kF64, "F64"}, {core::DType::kF32, "F32"},  {core::DType::kF16, "F16"}, {core::DType::kBF16, "BF16"},
    {core::DType::kI64, "I64"}, {core::DType::kI32, "I32"},  {core::DType::kU32, "U32"}, {core::DType::kI8, "I8"},
    {core::DType::kU8, "U8"},   {core::DType::kBool, "BOOL"}};

std::string_view FormatName(core::DType dtype) {
  for (const auto& entry : kDTypeNames)
    if (entry.dtype == dtype) return entry.name;
  throw std::logic_error("safetensors: a dtype without a name");
}

// Thrown and caught within this file only.
struct MalformedFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

json ParseHeader(std::string_view text) {
  auto header = base::ParseJson(text, {.depth = kMaxDepth});
  if (!header) throw MalformedFile("the header: " + header.error().message);
  return std::move(*header);
}

uint64_t NaturalNumber(const json& value, const char* what) {
  if (!value.is_number_unsigned()) throw MalformedFile(std::string(what) + " must be a natural number");
  return value.get<uint64_t>();
}

struct Range {
  uint64_t begin, end;
  std::string name;
};

core::Tensor DecodeTensor(const std::string& name, const json& entry, std::string_view data,
                          std::vector<Range>& ranges) {
  if (name.empty() || name.size() > kMaxNameLength) throw MalformedFile("a tensor's name is empty or too long");
  if (!entry.is_object() || entry.size() != 3)
    throw MalformedFile("tensor \"" + name + "\" needs dtype, shape and data_offsets, and nothing else");
  const json& dtype_name = entry.at("dtype");
  const json& shape = entry.at("shape");
  const json& offsets = entry.at("data_offsets");
  if (!dtype_name.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2)
    throw MalformedFile("tensor \"" + name + "\" has a field of the wrong kind");
  const auto* known = std::find_if(std::begin(kDTypeNames), std::end(kDTypeNames), [&](const DTypeName& d) {
    return d.name == dtype_name.get_ref<const std::string&>();
  });
  if (known == std::end(kDTypeNames))
    throw MalformedFile("tensor \"" + name + "\" has the unsupported dtype \"" +
                        dtype_name.get<std::string>().substr(0, 32) + "\"");
  if (shape.size() > kMaxRank) throw MalformedFile("tensor \"" + name + "\" has more than 16 dimensions");

  core::Tensor tensor;
  tensor.dtype = known->dtype;
  uint64_t bytes = core::SizeOf(tensor.dtype);
  for (const json& extent : shape) {
    const uint64_t n = NaturalNumber(extent, "an extent");
    if (n > static_cast<uint64_t>(INT64_MAX) || __builtin_mul_overflow(bytes, n, &bytes))
      throw MalformedFile("tensor \"" + name + "\" is too large");
    tensor.shape.push_back(static_cast<int64_t>(n));
  }
  const uint64_t begin = NaturalNumber(offsets[0], "an offset"), end = NaturalNumber(offsets[1], "an offset");
  if (begin > end || end > data.size())
    throw MalformedFile("the data of tensor \"" + name + "\" lies outside the file");
  if (end - begin != bytes)
    throw MalformedFile(fmt::format("tensor \"{}\" has {} bytes where its shape needs {}", name, end - begin, bytes));
  tensor.data.resize(bytes);
  if (bytes > 0) std::memcpy(tensor.data.data(), data.data() + begin, bytes);
  if (tensor.dtype == core::DType::kBool &&
      std::any_of(tensor.data.begin(), tensor.data.end(), [](std::byte b) { return b > std::byte{1}; }))
    throw MalformedFile("tensor \"" + name + "\" has a bool that is neither 0 nor 1");
  ranges.push_back({begin, end, name});
  return tensor;
}

// Sorted by position, the ranges must follow each other without a gap and end with the data.
void CheckCoverage(std::vector<Range> ranges, uint64_t data_size) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  uint64_t position = 0;
  for (const Range& range : ranges) {
    if (range.begin < position) throw MalformedFile("the data of tensor \"" + range.name + "\" overlaps another's");
    if (range.begin > position) throw MalformedFile("there is a hole before the data of tensor \"" + range.name + "\"");
    position = range.end;
  }
  if (position != data_size) throw MalformedFile("there are bytes after the last tensor");
}

TensorFile Decode(std::string_view bytes) {
  if (bytes.size() < 8) throw MalformedFile("shorter than its header's length field");
  uint64_t header_size = 0;
  for (int i = 7; i >= 0; --i)
    header_size = header_size << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  if (header_size > kMaxSafetensorsHeaderBytes) throw MalformedFile("the header is larger than 1 MiB");
  if (header_size > bytes.size() - 8) throw MalformedFile("the header is longer than the file");
  const std::string_view header_text = bytes.substr(8, header_size), data = bytes.substr(8 + header_size);
  if (header_text.empty() || header_text.front() != '{') throw MalformedFile("the header does not begin with {");

  const json header = ParseHeader(header_text);
  if (!header.is_object()) throw MalformedFile("the header is not an object");
  if (header.size() > kMaxTensors) throw MalformedFile("more than 4096 tensors");
  TensorFile file;
  std::vector<Range> ranges;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      file.tensors.emplace(name, DecodeTensor(name, entry, data, ranges));
      continue;
    }
    if (!entry.is_object()) throw MalformedFile("__metadata__ is not an object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) throw MalformedFile("__metadata__ holds something that is not text");
      file.metadata.emplace(key, value.get<std::string>());
    }
  }
  CheckCoverage(std::move(ranges), data.size());
  return file;
}

}  // namespace

Result<TensorFile> DecodeSafetensors(std::string_view bytes, const std::string& name) {
  try {
    return Decode(bytes);
  } catch (const std::exception& e) {
    Error error{.code = ErrorCode::kConfig,
                .message = std::string("not a valid safetensors file: ") + e.what(),
                .file = name,
                .remedy = {}};
    return Fail(std::move(error));
  }
}

std::string EncodeSafetensors(const TensorFile& file) {
  json header = json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : file.tensors) {
    header[name] = {{"dtype", std::string(FormatName(tensor.dtype))},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + tensor.data.size()}}};
    offset += tensor.data.size();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string bytes;
  bytes.reserve(8 + text.size() + offset);
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(text.size() >> (8 * i)));
  bytes += text;
  for (const auto& [name, tensor] : file.tensors)
    bytes.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  return bytes;
}

}  // namespace warpwright::judge

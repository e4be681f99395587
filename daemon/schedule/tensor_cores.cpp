#include "schedule/tensor_cores.h"

#include <fmt/format.h>

#include <charconv>

namespace warpwright::schedule {
namespace {

constexpr int kFirstArchitecture = 80;

constexpr std::string_view kMultiplyAdd = R"(// sum += a * b of a warp: 16 x 8 results of 16 terms.
__device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b_low,
                                             unsigned b_high) {{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32 {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, "
      "{{%0, %1, %2, %3}};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}}

)";
constexpr std::string_view kCopyOctet =
    R"(// Eight neighbours, one by one where they are not aligned.
__device__ __forceinline__ void copy_octet({0}* to, const {0}* from, int count, bool aligned) {{
  if (aligned) {{
    copy_octet(shared_address(to), from, count);
  }} else {{
#pragma unroll
    for (int j = 0; j < 8; ++j) to[j] = j < count ? from[j] : {1};
  }}
}}

)";

}  // namespace

std::string CopyAlignedOctetText(const std::string& type) {
  return fmt::format(R"(// Eight neighbours into shared memory, zero from `count` on, without waiting for them.
__device__ __forceinline__ void copy_octet(unsigned to, const {0}* from, int count) {{
  const int bytes = 2 * max(0, min(count, 8));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}}

)",
                     type);
}

const std::string_view kSharedAddressText = R"(__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

)";
const std::string_view kLoadMatricesText = R"(// Four 8 x 8 matrices from shared memory; each lane names a row of one.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

)";
const std::string_view kLoadTransposedText = R"(// The same, each matrix transposed.
__device__ __forceinline__ void load_matrices_transposed(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

)";
const std::string_view kSwizzledText =
    R"(// Where an element of a tile stands: octets of a row change places from row to row, so that neither copies nor
// rows of a matrix meet in a bank.
template <int kColumns>
__device__ __forceinline__ int swizzled(int row, int column) {
  constexpr int kFactor = kColumns / 8 & -(kColumns / 8);  // a power of two
  constexpr int kOctets = kFactor < 8 ? kFactor : 8, kRows = 8 / kOctets;
  return row * kColumns + (column / 8 ^ row / kRows % kOctets) * 8 + column % 8;
}

)";
const std::string_view kCopyGroupsText =
    R"(// Copies up to here are one group; all but the last `kLeft` groups have arrived.
__device__ __forceinline__ void end_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

)";

std::string MultiplyAddText(const std::string& type) {
  return fmt::format(kMultiplyAdd, type == "__half" ? "f16" : "bf16");
}

// Without a conversion, which the original may not have.
std::string ZeroOfHalves(const std::string& type) {
  return type == "__half" ? "__ushort_as_half(0)" : "__ushort_as_bfloat16(0)";
}

std::string CopyOctetText(const std::string& type) { return fmt::format(kCopyOctet, type, ZeroOfHalves(type)); }

std::optional<core::DType> TypeOfHalves(const Problem& problem, const core::Stage& stage,
                                        const std::vector<core::NodeId>& nodes) {
  if (nodes.size() != 1) return std::nullopt;
  const auto* read = std::get_if<core::TensorRead>(&stage.nodes[nodes.front()]);
  const core::TensorArgument* tensor = read == nullptr ? nullptr : problem.form.FindTensor(read->tensor);
  if (tensor == nullptr || (tensor->dtype != core::DType::kF16 && tensor->dtype != core::DType::kBF16))
    return std::nullopt;
  for (const core::Coordinate& coordinate : read->at)
    if (!std::holds_alternative<core::Affine>(coordinate)) return std::nullopt;
  return tensor->dtype;
}

bool HasTensorCores(const core::Chip& chip) {
  int number = 0;
  const size_t digits = chip.arch.find_first_of("0123456789");
  if (digits == std::string::npos) return false;
  std::from_chars(chip.arch.data() + digits, chip.arch.data() + chip.arch.size(), number);
  return number >= kFirstArchitecture;
}

}  // namespace warpwright::schedule

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

const std::string_view kPanelText =
    R"(// Where an element of a tile stands whose rows are neighbours: panels of 64 of them, in each a row of 128 bytes for
// every term, whose octets change places from term to term.
template <int kTerms>
__device__ __forceinline__ int in_panel(int term, int row) {
  return row / 64 * kTerms * 64 + term * 64 + (row % 64 / 8 ^ term % 8) * 8 + row % 8;
}

)";
const std::string_view kDescribeText =
    R"(// A matrix in shared memory as wgmma takes it: swizzled over 128 bytes, eight such rows after the other.
__device__ __forceinline__ unsigned long long describe(unsigned at, int panel_bytes) {
  return 1ull << 62 | 64ull << 32 | static_cast<unsigned long long>(panel_bytes / 16) << 16 | at / 16;
}

)";
const std::string_view kWarpgroupOrderText =
    R"(// What this thread wrote to shared memory is there for products that begin after a barrier.
__device__ __forceinline__ void show_to_products() { asm volatile("fence.proxy.async;" ::: "memory"); }
// Products between these are one group; all but the last `kLeft` groups are done.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

)";

std::string WarpgroupMultiplyText(const std::string& type, int n, bool left_across, bool right_across) {
  const int registers = n / 2;
  constexpr int kNamesInLine = 16, kSumsInLine = 6;
  std::string names, sums;
  for (int i = 0; i < registers; ++i) {
    if (i % kNamesInLine == 0) names += i == 0 ? "\n      \"{" : "\"\n      \"";
    names += fmt::format("%{}{}", i, i + 1 < registers ? ", " : "}, ");
    if (i % kSumsInLine == 0) sums += i == 0 ? "\n      : " : "\n        ";
    sums += fmt::format("\"+f\"(sums[{}]){}", i,
                        i + 1 == registers                   ? ""
                        : i % kSumsInLine + 1 == kSumsInLine ? ","
                                                             : ", ");
  }
  return fmt::format(R"(// sums += a * b of four warps: 64 x {0} results of 16 terms; done when it has been waited for.
__device__ __forceinline__ void multiply_add(float (&sums)[{1}], unsigned long long a, unsigned long long b) {{
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{2}.{2} "{3}"
      "%{1}, %{4}, 1, 1, 1, {5}, {6};"{7}
      : "l"(a), "l"(b));
}}

)",
                     n, registers, type == "__half" ? "f16" : "bf16", names, registers + 1, left_across ? 1 : 0,
                     right_across ? 1 : 0, sums);
}

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

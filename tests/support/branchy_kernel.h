// Random kernels in PTX full of conditional branches: nested, into the middle of other sides, and out of the kernel.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace warpwright::sim {

// .entry k(in, out, count): thread t of all reads in[8 t .. 8 t + 7] (f32), writes out[8 t .. 8 t + 7] (f32), and adds
// to count[0 .. 3] (s32). Most conditions compare values of `in`.
class BranchyKernel {
 public:
  static constexpr uint32_t kPerThread = 8, kCounts = 4;

  explicit BranchyKernel(uint32_t seed) : random_(seed) {}

  std::string Ptx() {
    body_.clear();
    for (int k = 0; k < kFloats; ++k) Line("ld.global.f32 %f{}, [%in+{}];", k, 4 * k);
    for (int k = 0; k < kInts; ++k) Line("add.s32 %r{}, %t, {};", k, k);
    for (int k = 0; k < kPredicates; ++k) Line("setp.gt.f32 %p{}, %f{}, 0f00000000;", k, k);
    Statements(3);
    for (int k = 0; k < kFloats; ++k)
      if (Chance(2)) Line("st.global.f32 [%out+{}], %f{};", 4 * k, k);
    Line("cvt.rn.f32.s32 %x, %r0;");
    Line("selp.f32 %x, %x, %f1, %p1;");
    Line("st.global.f32 [%out], %x;");
    return fmt::format(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) {{
  .reg .pred %p<{}>;
  .reg .pred %q;
  .reg .f32 %f<{}>;
  .reg .f32 %x;
  .reg .b32 %r<{}>;
  .reg .b32 %t, %n, %s;
  .reg .b64 %in, %out, %count, %offset;
  mov.u32 %t, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %s, %tid.x;
  mad.lo.s32 %t, %t, %n, %s;
  mul.wide.s32 %offset, %t, {};
  ld.param.u64 %in, [a];
  ld.param.u64 %out, [b];
  ld.param.u64 %count, [c];
  add.s64 %in, %in, %offset;
  add.s64 %out, %out, %offset;
{}END:
  ret;
}}
)",
                       kPredicates, kFloats, kInts, 4 * kPerThread, body_);
  }

 private:
  static constexpr int kFloats = 8, kInts = 3, kPredicates = 4;

  template <typename... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  bool Chance(int in) { return Below(in) == 0; }

  // A predicate register with a condition, mostly of data.
  std::string Condition() {
    if (Chance(4)) return fmt::format("%p{}", Below(kPredicates));
    const int p = Below(kPredicates);
    static constexpr const char* kCompares[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    const char* compare = kCompares[Below(6)];
    if (Chance(5)) Line("setp.{}.s32 %p{}, %r{}, {};", compare, p, Below(kInts), Below(40));
    else if (Chance(3))
      Line("setp.{}.and.f32 %p{}, %f{}, %f{}, %p{};", compare, p, Below(kFloats), Below(kFloats), Below(kPredicates));
    else Line("setp.{}.f32 %p{}, %f{}, %f{};", compare, p, Below(kFloats), Below(kFloats));
    return fmt::format("%p{}", p);
  }
  std::string Guard() { return fmt::format("@{}{}", Chance(2) ? "!" : "", Condition()); }

  void Simple() {
    const int d = Below(kFloats), a = Below(kFloats), b = Below(kFloats);
    switch (Below(10)) {
      case 0: return Line("add.f32 %f{}, %f{}, %f{};", d, a, b);
      case 1: return Line("mul.f32 %f{}, %f{}, %f{};", d, a, b);
      case 2: return Line("max.f32 %f{}, %f{}, %f{};", d, a, b);
      case 3: return Line("mov.f32 %f{}, 0f{:08x};", d, 0x3f800000 + 0x100000 * Below(16));
      case 4: return Line("add.s32 %r{}, %r{}, {};", Below(kInts), Below(kInts), Below(9) - 4);
      case 5: return Line("ld.global.f32 %f{}, [%in+{}];", d, 4 * Below(kFloats));
      case 6: return Line("st.global.f32 [%out+{}], %f{};", 4 * Below(kFloats), a);
      case 7: return Line("red.global.add.s32 [%count+{}], %r{};", 4 * Below(static_cast<int>(kCounts)), Below(kInts));
      case 8: {
        const std::string guard = Guard();
        if (Chance(2)) return Line("{} mov.f32 %f{}, %f{};", guard, d, a);
        return Line("{} st.global.f32 [%out+{}], %f{};", guard, 4 * Below(kFloats), a);
      }
      default: Line("ld.global.f32 %f{}, [%out+{}];", d, 4 * Below(kFloats));
    }
  }

  void Statements(int depth) {
    const int count = 2 + Below(4);
    for (int k = 0; k < count; ++k) {
      const int kind = depth > 0 ? Below(5) : 0;
      if (kind < 2) {
        Simple();
      } else if (kind == 2) {  // if, perhaps with a way out of the enclosing one
        const int end = labels_++;
        const std::string guard = Guard();
        Line("{} bra L{};", guard, end);
        ends_.push_back(end);
        Statements(depth - 1);
        ends_.pop_back();
        Line("L{}:", end);
      } else if (kind == 3) {  // if and else
        const int other = labels_++, end = labels_++;
        const std::string guard = Guard();
        Line("{} bra L{};", guard, other);
        Statements(depth - 1);
        Line("bra L{};", end);
        Line("L{}:", other);
        Statements(depth - 1);
        Line("L{}:", end);
      } else if (!ends_.empty() && Chance(2)) {  // out of an enclosing one
        const std::string guard = Guard();
        Line("{} bra L{};", guard, ends_[static_cast<size_t>(Below(static_cast<int>(ends_.size())))]);
      } else if (Chance(4)) {
        const std::string guard = Guard();
        if (Chance(2)) Line("{} ret;", guard);
        else Line("{} bra END;", guard);
      }
    }
  }

  std::mt19937 random_;
  std::string body_;
  std::vector<int> ends_;
  int labels_ = 0;
};

}  // namespace warpwright::sim

#include "tests/unit/lift/random_program.h"

#include <fmt/format.h>

#include <algorithm>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace warpwright::lift {
namespace {

constexpr uint32_t kF = 8, kD = 4, kH = 8, kR = 10, kL = 4, kP = 4;  // registers of each kind

// Statements. (a|b|c): one of these. <F>, <D>, <H>, <R>, <L>, <P>: a register of f32, f64, 16, 32 or 64 bits, a
// predicate; <f>, <r>: or a constant; <8>: a number below 8.
using Statements = std::span<const std::string_view>;

constexpr std::string_view kFloat[] = {
    "(add|sub|mul)(.rn|.rn|.rn|.rz|.rm|.rp|)(|||.ftz)(||||.sat).f32 <F>, <f>, <f>",
    "(add|sub|mul)(.rn|.rn|.rn|.rz|.rm|.rp|)(|||.ftz)(||||.sat).f32 <F>, <F>, <f>",
    "fma(.rn|.rn|.rz|.rm|.rp)(|||.ftz)(||||.sat).f32 <F>, <F>, <f>, <f>",
    "(min|max)(|||.ftz)(||.NaN).f32 <F>, <f>, <f>",
    "(abs|neg)(|.ftz).f32 <F>, <F>",
    "div(.rn|.rn.ftz|.full|.full.ftz|.approx|.approx.ftz|.rz).f32 <F>, <f>, <F>",
    "(rcp.rn|rcp.approx.ftz|rcp.approx|sqrt.rn|sqrt.approx.ftz|sqrt.rn.ftz|rsqrt.approx|rsqrt.approx.ftz).f32 <F>, <F>",
    "copysign.f32 <F>, <F>, <F>",
};
constexpr std::string_view kDouble[] = {
    "(add|sub|mul|div)(.rn|.rn|.rz).f64 <D>, <D>, <D>",
    "fma.rn.f64 <D>, <D>, <D>, <D>",
    "(min|max).f64 <D>, <D>, <D>",
    "(abs|neg|sqrt.rn|rcp.rn).f64 <D>, <D>",
};
constexpr std::string_view kHalf[] = {
    "(add|sub|mul)(|||.ftz)(||||.sat).f16 <H>, <H>, <H>",
    "(add|sub|mul)(|||.ftz)(||||.sat).f16x2 <R>, <R>, <R>",
    "fma.rn(||.ftz|.sat|.relu).f16 <H>, <H>, <H>, <H>",
    "fma.rn(||.ftz|.sat|.relu).f16x2 <R>, <R>, <R>, <R>",
    "fma.rn(|.relu).bf16 <H>, <H>, <H>, <H>",
    "fma.rn(|.relu).bf16x2 <R>, <R>, <R>, <R>",
    "(min|max)(|.NaN).(f16|bf16) <H>, <H>, <H>",
    "(min|max)(|.NaN).(f16x2|bf16x2) <R>, <R>, <R>",
    "(abs|neg).(f16|bf16) <H>, <H>",
    "(abs|neg).(f16x2|bf16x2) <R>, <R>",
    "cvt.rn(|.relu).(f16x2.f32|bf16x2.f32) <R>, <F>, <F>",
};
constexpr std::string_view kConvert[] = {
    "cvt.f32.f16 <F>, <H>",
    "cvt(.rn|.rz).f16.f32 <H>, <F>",
    "cvt(.rn|.rz).bf16.f32 <H>, <F>",
    "cvt.f32.bf16 <F>, <H>",
    "cvt(.rzi|.rni|.rmi|.rpi)(|.ftz).(s32|u32).f32 <R>, <F>",
    "cvt(.rn|.rz|.rp).f32.(s32|u32) <F>, <R>",
    "cvt(.rzi|.rni|.rmi|.rpi)(|.ftz).f32.f32 <F>, <F>",
    "cvt.f64.f32 <D>, <F>",
    // Which NaN an operation on f64 gives is the host's affair: none is converted.
    "max.f64 %e0, <D>, 0dC7EFFFFFE0000000;cvt(.rn|.rz|.rm).f32.f64 <F>, %e0",
    "cvt(.rn.f16|.rn.bf16).(s32|u32) <H>, <R>",
    "cvt.rzi.s64.f32 <L>, <F>",
    "cvt.sat.f32.f32 <F>, <F>",
};
constexpr std::string_view kInteger[] = {
    "(add|sub).(s32|u32) <R>, <R>, <r>",
    "(mul.lo|mul.hi|div|rem|min|max).(s32|u32) <R>, <R>, <r>",
    "mad(.lo|.hi).(s32|u32) <R>, <R>, <r>, <R>",
    "mul.wide.(s32|u32) <L>, <R>, <r>",
    "mad.wide.(s32|u32) <L>, <R>, <R>, <L>",
    "(abs|neg).s32 <R>, <R>",
    "(add|sub|mul.lo|min|max|mul.hi).(s64|u64) <L>, <L>, <L>",
    "cvt.(s64.s32|u64.u32|s64.s16|u64.u8) <L>, <R>",
    "cvt.(u32.u64|s32.s64) <R>, <L>",
    "cvt.(s32.s16|u32.u16|s32.s8|u32.u8) <R>, <R>",
    "cvt.(s32.s16|u32.u16|s32.s8|u32.u8) <R>, <H>",
    "cvt.(u16.u32|s16.s32) <H>, <R>",
    "cvt.sat.(u8.s32|s8.s32|u16.s32|s16.u32) <R>, <R>",
    "sad.(s32|u32) <R>, <R>, <R>, <r>",
    "dp4a.(s32.s32|u32.s32|u32.u32) <R>, <R>, <R>, <R>",
};
constexpr std::string_view kBits[] = {
    "(and|or|xor).b32 <R>, <R>, <r>",
    "(and|or|xor).b32 <R>, <R>, (0x7fffffff|0x80000000|0xffff|0xffff0000|0x7fff7fff|0x80008000)",
    "(not|cnot).b32 <R>, <R>",
    "(shl.b32|shr.u32|shr.s32) <R>, <R>, (16|16|8|1|24|31|40)",
    "(shl.b32|shr.u32|shr.s32) <R>, <R>, <R>",
    "prmt.b32 <R>, <R>, <R>, (0x5410|0x7632|0x1032|0x5432|0x3210|0x7654|0x4440|0xba98|0x0123)",
    "lop3.b32 <R>, <R>, <r>, <r>, <256>",
    "(popc|clz).b32 <R>, <R>",
    "shf.(l|r).(wrap|clamp).b32 <R>, <R>, <R>, (16|8|5|0|32)",
    "bfe.(u32|s32) <R>, <R>, (0|8|16|5), (8|16|3)",
    "bfi.b32 <R>, <R>, <R>, (0|8|16), (8|16|3)",
    "(and.b64|or.b64|xor.b64) <L>, <L>, <L>",
    "(and.b64|or.b64|xor.b64) <L>, <L>, (0xffffffff|0x7fffffffffffffff|0xffff0000ffff|255)",
    "(shl.b64|shr.u64|shr.s64) <L>, <L>, (16|32|48|8|3|63)",
};
constexpr std::string_view kPredicates[] = {
    "setp.(lt|le|gt|ge|eq|ne|equ|neu|ltu|geu|num|nan)(|.ftz).f32 <P>, <F>, <f>",
    "setp.(lt|le|gt|ge|eq|ne).(and|or|xor).f32 <P>, <F>, <f>, (|!)<P>",
    "setp.(lt|le|gt|ge|eq|ne).(s32|u32) <P>, <R>, <r>",
    "setp.(lt|gt|ne).(and|or|xor).s32 %p2|%p3, <R>, <r>, (|!)<P>",
    "setp.(lt|gtu|eq|nan).(f16x2|bf16x2) %p0|%p1, <R>, <R>",
    "setp.(lt|gt|neu).f16 <P>, <H>, <H>",
    "setp.(lt|gt|neu).f64 <P>, <D>, <D>",
    "(and|or|xor).pred <P>, <P>, <P>",
    "not.pred <P>, <P>",
    "set.(lt|gt|eq).f32.f32 <F>, <F>, <f>",
    "slct.f32.f32 <F>, <F>, <F>, <F>",
    "testp.(finite|infinite|number|notanumber|normal|subnormal).f32 <P>, <F>",
};
constexpr std::string_view kMoves[] = {
    "selp.f32 <F>, <F>, <f>, <P>",
    "selp.b32 <R>, <R>, <r>, <P>",
    "selp.b64 <L>, <L>, <L>, <P>",
    "selp.b16 <H>, <H>, <H>, <P>",
    "selp.u32 <R>, 1, 0, <P>",
    "mov.b32 <R>, {<H>, <H>}",
    "mov.b32 {%h(0|2|4|6), %h(1|3|5|7)}, <R>",
    "mov.b64 <L>, {<R>, <R>}",
    "mov.b64 {%r(0|2|4|6), %r(1|3|5|7)}, <L>",
    "mov.b64 <L>, {<H>, <H>, <H>, <H>}",
    "mov.b64 {%h0, %h1, %h2, %h3}, <L>",
    "mov.b32 <R>, <F>",
    "mov.b32 <F>, <R>",
    "mov.f32 <F>, <f>",
    "mov.b16 <H>, <H>",
};
// The last warp may be half full.
constexpr std::string_view kExchange[] = {
    "activemask.b32 %t5;shfl.sync.(bfly|down|idx).b32 <R>, <R>, <32>, (31|0x181f|0x101f), %t5",
    "activemask.b32 %t5;shfl.sync.up.b32 <R>, <R>, <32>, 0, %t5",
    "activemask.b32 %t5;redux.sync.(add.s32|add.u32|min.s32|max.u32|and.b32|or.b32|xor.b32) <R>, <R>, %t5",
};
// Each thread writes its own 32 bytes of the tile, and reads another's.
constexpr std::string_view kStoreShared[] = {
    "st.shared.b32 [%t3+(0|4|8|12|16|20)], <R>",
    "st.shared.b16 [%t3+(0|2|6|10|18)], <H>",
    "st.shared.b64 [%t3+(0|8|24)], <L>",
    "st.shared.v4.f32 [%t3+(0|16)], {<F>, <F>, <F>, <F>}",
    "st.shared.u8 [%t3+<32>], <R>",
    "st.shared.v2.b32 [%t3+(0|8|16|24)], {<R>, <R>}",
};
constexpr std::string_view kLoadShared[] = {
    "ld.shared.b32 <R>, [%t6+(0|4|8|12|16|20)]",
    "ld.shared.b16 <H>, [%t6+(0|2|6|10|18)]",
    "ld.shared.b64 <L>, [%t6+(0|8|24)]",
    "ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%t6+(0|16)]",
    "ld.shared.(u8|s8) <R>, [%t6+<32>]",
    "ld.shared.(u16|s16) <R>, [%t6+(0|2|6|10|18)]",
    "ld.shared.v2.b32 {%r0, %r1}, [%t6+(0|8|16|24)]",
};
constexpr std::string_view kStoreLocal[] = {"st.local.b32 [own+(0|4|20)], <R>", "st.local.b64 [own+(0|8|16)], <L>",
                                            "st.local.f32 [own+(0|4|20)], <F>", "st.local.b16 [own+(0|2|10)], <H>"};
constexpr std::string_view kLoadLocal[] = {"ld.local.b32 <R>, [own+(0|4|20)]", "ld.local.b64 <L>, [own+(0|8|16)]",
                                           "ld.local.f32 <F>, [own+(0|4|20)]", "ld.local.b16 <H>, [own+(0|2|10)]"};
// %s: the sums that all threads share; the last four are only added to as floats.
constexpr std::string_view kAtomics[] = {
    "atom.global.add.f32 <F>, [%s+(16|20|24|28)], <F>",
    "red.global.add.f32 [%s+(16|20|24|28)], <F>",
    "atom.global.(add.s32|add.u32|min.s32|max.u32|and.b32|or.b32|xor.b32|exch.b32) <R>, [%s+(0|4|8|12)], <R>",
    "red.global.(add.u32|min.u32|max.s32|inc.u32|dec.u32) [%s+(0|4|8|12)], <R>",
    "atom.global.cas.b32 <R>, [%s+(0|4|8|12)], <R>, <R>",
    "atom.global.add.noftz.f16x2 <R>, [%s+(0|4|8|12)], <R>",
    "atom.global.exch.b32 <R>, [%s+(0|4|8|12)], <r>",
};
constexpr std::string_view kSharedAtomics[] = {
    "atom.shared.add.f32 <F>, [few+(16|20|24|28)], <F>",
    "atom.shared.(add.u32|min.s32|exch.b32|xor.b32) <R>, [few+(0|4|8|12)], <R>",
    "red.shared.(max.u32|and.b32) [few+(0|4|8|12)], <R>",
    ("and.b32 %t7, <R>, 7;shl.b32 %t7, %t7, 2;mov.u32 %t5, few;add.u32 %t7, %t7, %t5;atom.shared.add.u32 <R>, [%t7], "
     "<r>"),
    "and.b32 %t7, <R>, 7;shl.b32 %t7, %t7, 2;mov.u32 %t5, few;add.u32 %t7, %t7, %t5;ld.shared.b32 <R>, [%t7]",
};
// %a15: an offset that depends on data; %a0: an input; %a13: a table that all threads share.
constexpr std::string_view kIndirect[] = {
    "add.u64 %a15, %a15, %a0;ld.global.f32 <F>, [%a15+(0|4|16)]",
    "add.u64 %a15, %a15, %a13;st.global.b32 [%a15], <R>",
    "add.u64 %a15, %a15, %a13;red.global.add.u32 [%a15], <r>",
    "add.u64 %a15, %a15, %a13;atom.global.add.u32 <R>, [%a15], <R>",
    "add.u64 %a15, %a15, %a13;ld.global.b32 <R>, [%a15]",
};
constexpr std::string_view kFloatConstants[] = {"0f00000000", "0f3F800000", "0fBF800000", "0f40490FDB",
                                                "0f7F800000", "0f80000000", "0f00000001", "0f3F000000"};
constexpr std::string_view kIntegerConstants[] = {"0",          "1",      "-1",         "16",         "0x7fffffff",
                                                  "0x80000000", "0xffff", "0xffff0000", "0x7fff7fff", "0x80008000",
                                                  "8",          "31",     "3",          "1234567"};

constexpr std::string_view kHead = R"()
{
.reg .f32 %f<8>;.reg .f64 %d<4>;.reg .b16 %h<8>;.reg .b32 %r<10>;.reg .b64 %l<4>;.reg .pred %p<4>;
.reg .b32 %t<8>;.reg .b64 %a<16>;.reg .b64 %s;.reg .pred %q<4>;.reg .b16 %g<2>;.reg .f32 %x<2>;.reg .f64 %e<2>;
.shared .align 16 .b8 tile[2048];.shared .align 16 .b8 few[32];.local .align 16 .b8 own[64];
mov.u32 %t0, %tid.x;mov.u32 %t1, %ctaid.x;
shl.b32 %t3, %t0, 5;mov.u32 %t4, tile;add.u32 %t3, %t3, %t4;
)";
// %a14: the thread's elements of a buffer.
constexpr std::string_view kInputs[] = {
    ("ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%a14];ld.global.v2.f32 {%f4, %f5}, [%a14+16];"
     "ld.global.f32 %f6, [%a14+24];ld.global.f32 %f7, [%a14+28]"),
    "ld.global.v2.f64 {%d0, %d1}, [%a14];ld.global.f64 %d2, [%a14+16];ld.global.f64 %d3, [%a14+24]",
    ("ld.global.b16 %h0, [%a14];ld.global.b16 %h1, [%a14+2];ld.global.b16 %h2, [%a14+4];ld.global.b16 %h3, [%a14+6];"
     "ld.global.v2.b32 {%r0, %r1}, [%a14+8]"),
    ("ld.global.b16 %h4, [%a14];ld.global.b16 %h5, [%a14+2];ld.global.b16 %h6, [%a14+8];ld.global.b16 %h7, [%a14+10];"
     "ld.global.b32 %r2, [%a14+4];ld.global.b64 %l0, [%a14]"),
    ("ld.global.u32 %r3, [%a14];ld.global.u32 %r4, [%a14+4];ld.global.u32 %r5, [%a14+8];"
     "ld.global.v2.b32 {%r6, %r7}, [%a14+16];ld.global.b64 %l1, [%a14+24]"),
    "ld.global.u64 %l2, [%a14];ld.global.u64 %l3, [%a14+8]",
    "ld.global.(u8|s8) %r8, [%a14+1];ld.global.(u16|s16|b16) %r9, [%a14+2]",
};
constexpr std::string_view kStart =
    "setp.gt.f32 %p0, %f0, %f1;setp.gt.f32 %p1, %f2, %f3;setp.lt.f32 %p2, %f4, %f5;setp.gt.f64 %p3, %d0, %d1;"
    "st.shared.v4.f32 [%t3], {%f0, %f1, %f2, %f3};st.shared.v4.b32 [%t3+16], {%r0, %r1, %r3, %r4};"
    "setp.eq.u32 %q0, %t0, 0;@%q0 st.shared.v4.b32 [few], {%r3, %r4, 5, 6};"
    "@%q0 st.shared.v4.f32 [few+16], {%f0, %f1, 0f3F800000, %f2};bar.sync 0;"
    "st.local.b64 [own], %l0;st.local.b64 [own+8], %l1;st.local.b64 [own+16], %l2";
constexpr std::string_view kOutputs[] = {
    "st.global.v4.f32 [%a14], {%f0, %f1, %f2, %f3};st.global.v4.f32 [%a14+16], {%f4, %f5, %f6, %f7}",
    "st.global.v2.f64 [%a14], {%d0, %d1};st.global.f64 [%a14+16], %d2;st.global.f64 [%a14+24], %d3",
    ("st.global.b16 [%a14], %h0;st.global.b16 [%a14+2], %h1;st.global.b16 [%a14+4], %h2;st.global.b16 [%a14+6], %h3;"
     "st.global.b16 [%a14+8], %h4;st.global.b16 [%a14+10], %h5;st.global.b16 [%a14+12], %h6;st.global.b16 [%a14+14], "
     "%h7"),
    "st.global.v4.b32 [%a14], {%r0, %r1, %r2, %r3};st.global.v4.b32 [%a14+16], {%r4, %r5, %r6, %r7}",
    ("st.global.b64 [%a14], %l0;st.global.b64 [%a14+8], %l1;st.global.b64 [%a14+16], %l2;st.global.b64 [%a14+24], %l3;"
     "selp.b32 %r0, %r8, %r9, %p0;selp.b32 %r1, %r8, %r9, %p1;selp.b32 %r2, %r8, %r9, %p2;selp.b32 %r3, %r8, %r9, %p3;"
     "st.global.v2.b32 [%a14+32], {%r0, %r1};st.global.v2.b32 [%a14+40], {%r2, %r3}"),
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed, 7) {}

  RandomProgram Make() {
    RandomProgram program;
    program.threads = threads_ = 32 + 16 * Below(3);
    program.blocks = 1 + Below(3);
    for (int b = 0; b < kProgramBuffers; ++b) text_ += fmt::format("{}.param .u64 b{}", b ? ", " : "", b);
    text_ += kHead;
    Emit(fmt::format("mad.lo.u32 %t2, %t1, {}, %t0", threads_));  // the thread in the grid
    for (int b = 0; b < kProgramBuffers; ++b) Emit(fmt::format("ld.param.u64 %a{0}, [b{0}]", b));
    Emit("mov.b64 %s, %a12");
    constexpr uint32_t kInputBytes[] = {4, 8, 2, 2, 4, 8, 1}, kOutputBytes[] = {4, 8, 2, 4, 8};
    int buffer = 0;
    for (size_t k = 0; k < std::size(kInputs); ++k) OfThread(buffer++, kInputBytes[k], kInputs[k]);
    Emit(kStart);
    const bool branches = Chance(5);
    for (uint32_t count = 5 + Below(50); count > 0; --count) {
      Step();
      if (branches && Chance(5)) DataBranch();
    }
    for (size_t k = 0; k < std::size(kOutputs); ++k) OfThread(buffer++, kOutputBytes[k], kOutputs[k]);
    program.ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(" + text_ + "ret;\n}\n";
    return program;
  }

 private:
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_.Below(next_++, bound)); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  std::string_view One(Statements list) { return list[Below(static_cast<uint32_t>(list.size()))]; }
  std::string Register(char kind, uint32_t count) { return fmt::format("%{}{}", kind, Below(count)); }

  std::string Operand(std::string_view kind) {
    switch (kind[0]) {
      case 'F': return Register('f', kF);
      case 'D': return Register('d', kD);
      case 'H': return Register('h', kH);
      case 'R': return Register('r', kR);
      case 'L': return Register('l', kL);
      case 'P': return Register('p', kP);
      case 'f': return Chance(20) ? std::string(One(kFloatConstants)) : Register('f', kF);
      case 'r': return Chance(30) ? std::string(One(kIntegerConstants)) : Register('r', kR);
      default: return std::to_string(Below(static_cast<uint32_t>(std::stoul(std::string(kind)))));
    }
  }
  std::string Expand(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '<') {
        const size_t end = text.find('>', i);
        out += Operand(text.substr(i + 1, end - i - 1));
        i = end;
      } else if (text[i] == '(') {
        const size_t end = text.find(')', i);
        std::vector<std::string_view> choices;
        for (size_t at = i + 1; at <= end;) {
          const size_t next = std::min(text.find('|', at), end);
          choices.push_back(text.substr(at, next - at));
          at = next + 1;
        }
        out += One(choices);
        i = end;
      } else {
        out += text[i];
      }
    }
    return out;
  }
  void Emit(std::string_view statements) {
    for (size_t at = 0; at <= statements.size();) {
      const size_t end = std::min(statements.find(';', at), statements.size());
      text_ += guard_ + Expand(statements.substr(at, end - at)) + ";\n";
      at = end + 1;
    }
  }
  void Any(Statements list) { Emit(One(list)); }
  void Label(char kind, uint32_t number) { text_ += fmt::format("{}{}:\n", kind, number); }
  void OfThread(int buffer, uint32_t bytes, std::string_view statements) {
    Emit(fmt::format("mul.wide.u32 %a14, %t2, {}", bytes * kPerThread));
    Emit(fmt::format("add.u64 %a14, %a14, %a{}", buffer));
    Emit(statements);
  }

  void Arithmetic() {
    static constexpr Statements kAll[] = {kFloat,   kFloat,   kDouble, kHalf,       kConvert,
                                          kInteger, kInteger, kBits,   kPredicates, kMoves};
    Any(kAll[Below(static_cast<uint32_t>(std::size(kAll)))]);
  }
  void Step() {
    if (Chance(10)) {
      Emit(fmt::format("setp.lt.u32 %q0, %t0, {}", Below(64)));
      guard_ = Chance(50) ? "@%q0 " : "@!%q0 ";
      Arithmetic();
      guard_.clear();
      return;
    }
    Chance(88) ? Arithmetic() : Communicate();
  }
  void Communicate() {
    switch (Below(9)) {
      case 0: return Any(kExchange);
      case 1: return SharedMemory();
      case 2: Any(kStoreLocal); return Any(kLoadLocal);
      case 3: return Any(kAtomics);
      case 4:
        Emit("bar.sync 0");
        Any(kSharedAtomics);
        return Emit("bar.sync 0");
      case 5: return Indirect();
      case 6: return Retry();
      case 7: return nested_ ? Arithmetic() : Loop();
      default: return nested_ ? Arithmetic() : Branch();
    }
  }
  void SharedMemory() {
    Any(kStoreShared);
    Emit(fmt::format("bar.sync 0;add.u32 %t6, %t0, {};rem.u32 %t6, %t6, {}", Below(threads_), threads_));
    Emit("shl.b32 %t6, %t6, 5;add.u32 %t6, %t6, %t4");
    Any(kLoadShared);
    Emit("bar.sync 0");
  }
  void Indirect() {
    Emit(fmt::format("and.b32 %t7, <R>, {}", kShared - 1));
    if (Chance(30))  // not in all lanes
      Emit(fmt::format("setp.lt.u32 %q0, %t0, {};selp.b32 %t7, %t7, {}, %q0", Below(64), Below(kShared)));
    Emit("mul.wide.u32 %a15, %t7, 4");
    Any(kIndirect);
  }
  // A sum by compare and swap.
  void Retry() {
    const uint32_t label = labels_++, at = 16 + 4 * Below(4);
    Emit(fmt::format("ld.global.b32 %t7, [%s+{}]", at));
    Label('C', label);
    Emit("mov.b32 %t6, %t7;mov.b32 %x0, %t6;add.f32 %x0, %x0, <F>;mov.b32 %t5, %x0");
    Emit(fmt::format("atom.global.cas.b32 %t7, [%s+{}], %t6, %t5;setp.ne.s32 %q3, %t6, %t7;@%q3 bra C{}", at, label));
  }
  void Loop() {
    nested_ = true;
    const uint32_t label = labels_++;
    Emit("mov.u16 %g0, 0");
    Label('L', label);
    for (uint32_t k = Below(4) + 1; k > 0; --k) Step();
    Emit(fmt::format("add.u16 %g0, %g0, 1;setp.lt.u16 %q1, %g0, {};@%q1 bra L{}", 2 + Below(4), label));
    nested_ = false;
  }
  void Branch() {
    const uint32_t label = labels_++;
    Emit(fmt::format("setp.(lt|gt|eq).u32 %q2, %t0, {};@%q2 bra E{}", Below(40), label));
    for (uint32_t k = Below(4) + 1; k > 0; --k) Arithmetic();
    const bool both = Chance(50);
    if (both) Emit(fmt::format("bra.uni F{}", label));
    Label('E', label);
    if (!both) return;
    for (uint32_t k = Below(3); k > 0; --k) Arithmetic();
    Label('F', label);
  }
  void DataBranch() {
    const uint32_t label = labels_++;
    Emit(fmt::format("setp.gt.f32 %q3, <F>, <F>;@%q3 bra D{}", label));
    for (uint32_t k = Below(3) + 1; k > 0; --k) Arithmetic();
    Label('D', label);
  }

  base::CounterRandom random_;
  uint64_t next_ = 0;
  uint32_t threads_ = 32, labels_ = 0;
  bool nested_ = false;
  std::string text_, guard_;
};

}  // namespace

RandomProgram MakeRandomProgram(uint64_t seed) { return Generator(seed).Make(); }

}  // namespace warpwright::lift

#include "tests/unit/lift/random_program.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace warpwright::lift {
namespace {

constexpr uint32_t kF = 8, kD = 4, kH = 8, kR = 10, kL = 4, kP = 4;  // registers of each kind

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed, 7) {}

  RandomProgram Make() {
    RandomProgram program;
    program.threads = One({32u, 32u, 48u, 64u});
    program.blocks = One({1u, 1u, 2u, 3u});
    threads_ = program.threads;
    Begin();
    Inputs();
    const uint32_t count = 5 + Below(50);
    const bool branches = Chance(5);
    for (uint32_t k = 0; k < count; ++k) {
      Step();
      if (branches && Chance(5)) DataBranch();
    }
    Outputs();
    program.ptx = head_ + body_ + "  ret;\n}\n";
    return program;
  }

 private:
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_.Below(next_++, bound)); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  template <typename T>
  T One(std::initializer_list<T> list) {
    return *(list.begin() + Below(static_cast<uint32_t>(list.size())));
  }
  std::string Word(std::initializer_list<const char*> list) { return One(list); }
  template <typename... Args>
  void Emit(fmt::format_string<Args...> text, Args&&... args) {
    body_ += guard_ + fmt::format(text, std::forward<Args>(args)...) + ";\n";
  }

  std::string F() { return fmt::format("%f{}", Below(kF)); }
  std::string D() { return fmt::format("%d{}", Below(kD)); }
  std::string H() { return fmt::format("%h{}", Below(kH)); }
  std::string R() { return fmt::format("%r{}", Below(kR)); }
  std::string L() { return fmt::format("%l{}", Below(kL)); }
  std::string P() { return fmt::format("%p{}", Below(kP)); }
  // Or a constant.
  std::string Fc() {
    if (!Chance(20)) return F();
    return Word({"0f00000000", "0f3F800000", "0fBF800000", "0f40490FDB", "0f7F800000", "0f80000000", "0f00000001",
                 "0f3F000000"});
  }
  std::string Rc() {
    if (!Chance(30)) return R();
    if (Chance(50))
      return Word({"0", "1", "-1", "16", "0x7fffffff", "0x80000000", "0xffff", "0xffff0000", "0x7fff7fff", "0x80008000",
                   "8", "31", "3"});
    return fmt::format("{}", static_cast<int32_t>(Below(UINT32_MAX)));
  }
  std::string Ftz() { return Chance(25) ? ".ftz" : ""; }
  std::string Sat() { return Chance(10) ? ".sat" : ""; }
  std::string Rnd() { return Word({".rn", ".rn", ".rn", ".rz", ".rm", ".rp", ""}); }

  void Begin() {
    head_ = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(";
    for (int b = 0; b < kProgramBuffers; ++b) head_ += fmt::format("{}.param .u64 b{}", b ? ", " : "", b);
    head_ += fmt::format(
        ")\n{{\n.reg .f32 %f<{}>;\n.reg .f64 %d<{}>;\n.reg .b16 %h<{}>;\n.reg .b32 %r<{}>;\n.reg .b64 %l<{}>;\n"
        ".reg .pred %p<{}>;\n.reg .b32 %t<8>;\n.reg .b64 %a<{}>;\n.reg .pred %q<4>;\n.reg .b16 %g<8>;\n.reg .f32 "
        "%x<2>;\n"
        ".shared .align 16 .b8 tile[2048];\n.shared .align 16 .b8 few[32];\n.local .align 16 .b8 own[64];\n",
        kF, kD, kH, kR, kL, kP, kProgramBuffers + 8);
    Emit("mov.u32 %t0, %tid.x");
    Emit("mov.u32 %t1, %ctaid.x");
    Emit("mad.lo.u32 %t2, %t1, {}, %t0", threads_);  // global thread
    for (int b = 0; b < kProgramBuffers; ++b) Emit("ld.param.u64 %a{0}, [b{0}]", b);
    Emit("shl.b32 %t3, %t0, 5");  // own 32 bytes of the tile
    Emit("mov.u32 %t4, tile");
    Emit("add.u32 %t3, %t3, %t4");
  }
  // The address of the thread's elements in a buffer.
  std::string Own(ProgramBuffer buffer, uint32_t size) {
    Emit("mul.wide.u32 %a{}, %t2, {}", kProgramBuffers, size * kPerThread);
    Emit("add.u64 %a{0}, %a{0}, %a{1}", kProgramBuffers, static_cast<int>(buffer));
    return fmt::format("%a{}", kProgramBuffers);
  }

  void Inputs() {
    std::string at = Own(ProgramBuffer::kF32, 4);
    Emit("ld.global.v4.f32 {{%f0, %f1, %f2, %f3}}, [{}]", at);
    for (uint32_t k = 4; k < kF; ++k) Emit("ld.global.f32 %f{}, [{}+{}]", k, at, 4 * k);
    at = Own(ProgramBuffer::kF64, 8);
    for (uint32_t k = 0; k < kD; ++k) Emit("ld.global.f64 %d{}, [{}+{}]", k, at, 8 * k);
    at = Own(ProgramBuffer::kF16, 2);
    for (uint32_t k = 0; k < 4; ++k) Emit("ld.global.b16 %h{}, [{}+{}]", k, at, 2 * k);
    Emit("ld.global.v2.b32 {{%r0, %r1}}, [{}+8]", at);
    at = Own(ProgramBuffer::kBf16, 2);
    for (uint32_t k = 4; k < kH; ++k) Emit("ld.global.b16 %h{}, [{}+{}]", k, at, 2 * k);
    Emit("ld.global.b32 %r2, [{}+4]", at);
    Emit("ld.global.b64 %l0, [{}]", at);
    at = Own(ProgramBuffer::kS32, 4);
    for (uint32_t k = 3; k < 8; ++k) Emit("ld.global.u32 %r{}, [{}+{}]", k, at, 4 * (k - 3));
    Emit("ld.global.v2.b32 {{%r6, %r7}}, [{}+16]", at);
    Emit("ld.global.b64 %l1, [{}+24]", at);
    at = Own(ProgramBuffer::kS64, 8);
    Emit("ld.global.u64 %l2, [{}]", at);
    Emit("ld.global.u64 %l3, [{}+8]", at);
    at = Own(ProgramBuffer::kU8, 1);
    Emit("ld.global.{} %r8, [{}+1]", Word({"u8", "s8"}), at);
    Emit("ld.global.{} %r9, [{}+2]", Word({"u16", "s16", "b16"}), at);
    for (uint32_t k = 0; k < kP; ++k) Emit("setp.gt.f32 %p{}, %f{}, %f{}", k, k, k + 1);
    Emit("st.shared.v4.f32 [%t3], {{%f0, %f1, %f2, %f3}}");
    Emit("st.shared.v4.b32 [%t3+16], {{%r0, %r1, %r3, %r4}}");
    Emit("setp.eq.u32 %q0, %t0, 0");
    Emit("@%q0 st.shared.v4.b32 [few], {{%r3, %r4, 5, 6}}");
    Emit("@%q0 st.shared.v4.f32 [few+16], {{%f0, %f1, 0f3F800000, %f2}}");
    Emit("bar.sync 0");
    for (int k = 0; k < 8; ++k) Emit("st.local.b64 [own+{}], %l{}", 8 * k, k % 4);
  }

  void Outputs() {
    std::string at = Own(ProgramBuffer::kOutF32, 4);
    for (uint32_t k = 0; k < kF; ++k) Emit("st.global.f32 [{}+{}], %f{}", at, 4 * k, k);
    at = Own(ProgramBuffer::kOutF64, 8);
    for (uint32_t k = 0; k < kD; ++k) Emit("st.global.f64 [{}+{}], %d{}", at, 8 * k, k);
    at = Own(ProgramBuffer::kOutF16, 2);
    for (uint32_t k = 0; k < kH; ++k) Emit("st.global.b16 [{}+{}], %h{}", at, 2 * k, k);
    at = Own(ProgramBuffer::kOutU32, 4);
    for (uint32_t k = 0; k < 8; ++k) Emit("st.global.b32 [{}+{}], %r{}", at, 4 * k, k);
    at = Own(ProgramBuffer::kOutS64, 8);
    for (uint32_t k = 0; k < kL; ++k) Emit("st.global.b64 [{}+{}], %l{}", at, 8 * k, k);
    for (uint32_t k = 0; k < kP; ++k) {
      Emit("selp.b32 %r{0}, %r8, %r9, %p{0}", k);
      Emit("cvt.u64.u32 %l{0}, %r{0}", k);
      Emit("st.global.b64 [{}+{}], %l{}", at, 8 * (k + 4), k);
    }
  }

  void Step() {
    const bool guarded = Chance(10);
    if (guarded) {
      Emit("setp.lt.u32 %q0, %t0, {}", Below(64));
      guard_ = Word({"@%q0 ", "@!%q0 "});
    }
    switch (Below(10)) {
      case 0:
      case 1: Float(); break;
      case 2: Half(); break;
      case 3: Convert(); break;
      case 4:
      case 5: Integer(); break;
      case 6: Bits(); break;
      case 7: Predicates(); break;
      case 8: Moves(); break;
      default:
        if (guarded) Double();
        else Communicate();
    }
    guard_.clear();
  }

  void Float() {
    switch (Below(8)) {
      case 0: Emit("{}{}{}{}.f32 {}, {}, {}", Word({"add", "sub", "mul"}), Rnd(), Ftz(), Sat(), F(), Fc(), Fc()); break;
      case 1:
        Emit("fma{}{}{}.f32 {}, {}, {}, {}", Word({".rn", ".rn", ".rz", ".rm", ".rp"}), Ftz(), Sat(), F(), F(), Fc(),
             Fc());
        break;
      case 2:
        Emit("{}{}{}.f32 {}, {}, {}", Word({"min", "max"}), Ftz(), Word({"", "", ".NaN"}), F(), Fc(), Fc());
        break;
      case 3: Emit("{}{}.f32 {}, {}", Word({"abs", "neg"}), Ftz(), F(), F()); break;
      case 4:
        Emit("div{}.f32 {}, {}, {}", Word({".rn", ".rn.ftz", ".full", ".full.ftz", ".approx", ".approx.ftz", ".rz"}),
             F(), Fc(), F());
        break;
      case 5:
        Emit("{}.f32 {}, {}",
             Word({"rcp.rn", "rcp.approx.ftz", "rcp.approx", "sqrt.rn", "sqrt.approx.ftz", "sqrt.rn.ftz",
                   "rsqrt.approx", "rsqrt.approx.ftz"}),
             F(), F());
        break;
      case 6: Emit("copysign.f32 {}, {}, {}", F(), F(), F()); break;
      default: Double(); break;
    }
  }
  void Double() {
    switch (Below(4)) {
      case 0:
        Emit("{}{}.f64 {}, {}, {}", Word({"add", "sub", "mul", "div"}), Word({".rn", ".rn", ".rz"}), D(), D(), D());
        break;
      case 1: Emit("fma.rn.f64 {}, {}, {}, {}", D(), D(), D(), D()); break;
      case 2: Emit("{}.f64 {}, {}, {}", Word({"min", "max"}), D(), D(), D()); break;
      default: Emit("{}.f64 {}, {}", Word({"abs", "neg", "sqrt.rn", "rcp.rn"}), D(), D()); break;
    }
  }
  void Half() {
    const bool pair = Chance(50);
    auto reg = [&] { return pair ? R() : H(); };
    const std::string x2 = pair ? "x2" : "";
    switch (Below(6)) {
      case 0:
        Emit("{}{}{}.f16{} {}, {}, {}", Word({"add", "sub", "mul"}), Ftz(), Sat(), x2, reg(), reg(), reg());
        break;
      case 1:
        Emit("fma.rn{}.f16{} {}, {}, {}, {}", Word({"", "", ".ftz", ".sat", ".relu"}), x2, reg(), reg(), reg(), reg());
        break;
      case 2: Emit("fma.rn{}.bf16{} {}, {}, {}, {}", Word({"", ".relu"}), x2, reg(), reg(), reg(), reg()); break;
      case 3:
        Emit("{}{}.{}{} {}, {}, {}", Word({"min", "max"}), Word({"", ".NaN"}), Word({"f16", "bf16"}), x2, reg(), reg(),
             reg());
        break;
      case 4: Emit("{}.{}{} {}, {}", Word({"abs", "neg"}), Word({"f16", "bf16"}), x2, reg(), reg()); break;
      default:
        Emit("cvt.rn{}.{} {}, {}, {}", Word({"", ".relu"}), Word({"f16x2.f32", "bf16x2.f32"}), R(), F(), F());
        break;
    }
  }
  void Convert() {
    switch (Below(12)) {
      case 0: Emit("cvt.f32.f16 {}, {}", F(), H()); break;
      case 1: Emit("cvt{}.f16.f32 {}, {}", Word({".rn", ".rz"}), H(), F()); break;
      case 2: Emit("cvt{}.bf16.f32 {}, {}", Word({".rn", ".rz"}), H(), F()); break;
      case 3: Emit("cvt.f32.bf16 {}, {}", F(), H()); break;
      case 4:
        Emit("cvt{}{}.{}.f32 {}, {}", Word({".rzi", ".rni", ".rmi", ".rpi"}), Ftz(), Word({"s32", "u32"}), R(), F());
        break;
      case 5: Emit("cvt{}.f32.{} {}, {}", Word({".rn", ".rz", ".rp"}), Word({"s32", "u32"}), F(), R()); break;
      case 6: Emit("cvt{}{}.f32.f32 {}, {}", Word({".rzi", ".rni", ".rmi", ".rpi"}), Ftz(), F(), F()); break;
      case 7: Emit("cvt.f64.f32 {}, {}", D(), F()); break;
      case 8: {
        // Which NaN an operation on f64 gives is the host's affair: none is converted.
        const std::string d = D();
        Emit("max.f64 {0}, {0}, 0dC7EFFFFFE0000000", d);
        Emit("cvt{}.f32.f64 {}, {}", Word({".rn", ".rz", ".rm"}), F(), d);
        break;
      }
      case 9: Emit("cvt{}.{} {}, {}", Word({".rn.f16", ".rn.bf16"}), Word({"s32", "u32"}), H(), R()); break;
      case 10: Emit("cvt.rzi.s64.f32 {}, {}", L(), F()); break;
      default: Emit("cvt.sat.f32.f32 {}, {}", F(), F()); break;
    }
  }
  void Integer() {
    const std::string type = Word({"s32", "u32"});
    switch (Below(12)) {
      case 0: Emit("{}.{} {}, {}, {}", Word({"add", "sub"}), type, R(), R(), Rc()); break;
      case 1:
        Emit("{}.{} {}, {}, {}", Word({"mul.lo", "mul.hi", "div", "rem", "min", "max"}), type, R(), R(), Rc());
        break;
      case 2: Emit("mad{}.{} {}, {}, {}, {}", Word({".lo", ".hi"}), type, R(), R(), Rc(), R()); break;
      case 3: Emit("mul.wide.{} {}, {}, {}", type, L(), R(), Rc()); break;
      case 4: Emit("mad.wide.{} {}, {}, {}, {}", type, L(), R(), R(), L()); break;
      case 5: Emit("{}.s32 {}, {}", Word({"abs", "neg"}), R(), R()); break;
      case 6:
        Emit("{}.{} {}, {}, {}", Word({"add", "sub", "mul.lo", "min", "max", "mul.hi"}), Word({"s64", "u64"}), L(), L(),
             L());
        break;
      case 7: Emit("cvt.{} {}, {}", Word({"s64.s32", "u64.u32", "s64.s16", "u64.u8"}), L(), R()); break;
      case 8: Emit("cvt.{} {}, {}", Word({"u32.u64", "s32.s64"}), R(), L()); break;
      case 9:
        Emit("cvt.{} {}, {}", Word({"s32.s16", "u32.u16", "s32.s8", "u32.u8"}), R(), Chance(50) ? R() : H());
        break;
      case 10: Emit("cvt.{} {}, {}", Word({"u16.u32", "s16.s32", "u16.u16"}), H(), Chance(50) ? R() : H()); break;
      default: Emit("{}.{} {}, {}, {}, {}", Word({"sad"}), type, R(), R(), R(), Rc()); break;
    }
  }
  void Bits() {
    switch (Below(12)) {
      case 0:
      case 1: Emit("{}.b32 {}, {}, {}", Word({"and", "or", "xor"}), R(), R(), Rc()); break;
      case 2: Emit("{}.b32 {}, {}", Word({"not", "cnot"}), R(), R()); break;
      case 3:
        Emit("{} {}, {}, {}", Word({"shl.b32", "shr.u32", "shr.s32"}), R(), R(),
             Chance(70) ? Word({"16", "8", "1", "24", "31", "40"}) : R());
        break;
      case 4:
        Emit("prmt.b32 {}, {}, {}, {}", R(), R(), R(),
             Word({"0x5410", "0x7632", "0x1032", "0x5432", "0x3210", "0x7654", "0x4440", "0xba98", "0x0123"}));
        break;
      case 5: Emit("lop3.b32 {}, {}, {}, {}, {}", R(), R(), Rc(), Rc(), Below(256)); break;
      case 6: Emit("{}.b32 {}, {}", Word({"popc", "clz"}), R(), R()); break;
      case 7:
        Emit("shf.{}.{}.b32 {}, {}, {}, {}", Word({"l", "r"}), Word({"wrap", "clamp"}), R(), R(), R(),
             Word({"16", "8", "5", "0", "32"}));
        break;
      case 8:
        Emit("bfe.{} {}, {}, {}, {}", Word({"u32", "s32"}), R(), R(), Word({"0", "8", "16", "5"}),
             Word({"8", "16", "3"}));
        break;
      case 9: Emit("bfi.b32 {}, {}, {}, {}, {}", R(), R(), R(), Word({"0", "8", "16"}), Word({"8", "16", "3"})); break;
      case 10:
        Emit("{} {}, {}, {}", Word({"and.b64", "or.b64", "xor.b64"}), L(), L(),
             Chance(50) ? L() : Word({"0xffffffff", "0x7fffffffffffffff", "0xffff0000ffff", "255"}));
        break;
      default:
        Emit("{} {}, {}, {}", Word({"shl.b64", "shr.u64", "shr.s64"}), L(), L(),
             Word({"16", "32", "48", "8", "3", "63"}));
        break;
    }
  }
  void Predicates() {
    const std::string combine = Chance(30) ? Word({".and", ".or", ".xor"}) : "";
    const std::string third = combine.empty() ? "" : (Chance(30) ? ", !" : ", ") + P();
    const std::string second = Chance(20) ? "" : "";
    switch (Below(10)) {
      case 0:
        Emit("setp.{}{}{}.f32 {}, {}, {}{}",
             Word({"lt", "le", "gt", "ge", "eq", "ne", "equ", "neu", "ltu", "geu", "num", "nan"}), combine, Ftz(), P(),
             F(), Fc(), third);
        break;
      case 1:
        Emit("setp.{}{}.{} {}, {}, {}{}", Word({"lt", "le", "gt", "ge", "eq", "ne"}), combine, Word({"s32", "u32"}),
             P(), R(), Rc(), third);
        break;
      case 2:
        Emit("setp.{}.{} %p0|%p1, {}, {}", Word({"lt", "gtu", "eq", "nan"}), Word({"f16x2", "bf16x2"}), R(), R());
        break;
      case 3: Emit("setp.{}.f16 {}, {}, {}", Word({"lt", "gt", "neu"}), P(), H(), H()); break;
      case 4: Emit("setp.{}.f64 {}, {}, {}", Word({"lt", "gt", "neu"}), P(), D(), D()); break;
      case 5: Emit("{}.pred {}, {}, {}", Word({"and", "or", "xor"}), P(), P(), P()); break;
      case 6: Emit("not.pred {}, {}", P(), P()); break;
      case 7: Emit("set.{}.f32.f32 {}, {}, {}", Word({"lt", "gt", "eq"}), F(), F(), Fc()); break;
      case 8: Emit("slct.f32.f32 {}, {}, {}, {}", F(), F(), F(), F()); break;
      default:
        Emit("testp.{}.f32 {}, {}", Word({"finite", "infinite", "number", "notanumber", "normal", "subnormal"}), P(),
             F());
        break;
    }
  }
  void Moves() {
    switch (Below(14)) {
      case 0: Emit("selp.f32 {}, {}, {}, {}", F(), F(), Fc(), P()); break;
      case 1: Emit("selp.b32 {}, {}, {}, {}", R(), R(), Rc(), P()); break;
      case 2: Emit("selp.b64 {}, {}, {}, {}", L(), L(), L(), P()); break;
      case 3: Emit("selp.b16 {}, {}, {}, {}", H(), H(), H(), P()); break;
      case 4: Emit("mov.b32 {}, {{{}, {}}}", R(), H(), H()); break;
      case 5: Emit("mov.b32 {{%h{}, %h{}}}, {}", 2 * Below(4), 2 * Below(4) + 1, R()); break;
      case 6: Emit("mov.b64 {}, {{{}, {}}}", L(), R(), R()); break;
      case 7: Emit("mov.b64 {{%r{}, %r{}}}, {}", 2 * Below(5), 2 * Below(5) + 1, L()); break;
      case 8: Emit("mov.b64 {}, {{{}, {}, {}, {}}}", L(), H(), H(), H(), H()); break;
      case 9: Emit("mov.b64 {{%h0, %h1, %h2, %h3}}, {}", L()); break;
      case 10: Emit("mov.b32 {}, {}", R(), F()); break;
      case 11: Emit("mov.b32 {}, {}", F(), R()); break;
      case 12: Emit("selp.u32 {}, 1, 0, {}", R(), P()); break;
      default:
        Emit("mov.{}", Chance(50) ? fmt::format("f32 {}, {}", F(), Fc()) : fmt::format("b16 {}, {}", H(), H()));
        break;
    }
  }

  void Communicate() {
    switch (Below(11)) {
      case 9: SharedAtomics(); break;
      case 10: Retry(); break;
      case 0: {
        const std::string mode = Word({"bfly", "down", "up", "idx"});
        Emit("shfl.sync.{}.b32 {}, {}, {}, {}, {}", mode, R(), R(), Below(32),
             mode == "up" ? "0" : Word({"31", "0x181f", "0x101f"}), Members());
        break;
      }
      case 1:
        Emit("redux.sync.{} {}, {}, {}",
             Word({"add.s32", "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"}), R(), R(), Members());
        break;
      case 2: SharedMemory(); break;
      case 3: LocalMemory(); break;
      case 4: Atomics(); break;
      case 5: Indirect(); break;
      case 6: Loop(); break;
      case 7: Branch(); break;
      default: Double(); break;
    }
  }
  // The last warp may be half full.
  std::string Members() {
    Emit("activemask.b32 %t5");
    return "%t5";
  }
  void SharedMemory() {
    const uint32_t place = 16 * Below(2);
    switch (Below(6)) {
      case 0: Emit("st.shared.b32 [%t3+{}], {}", 4 * Below(8), R()); break;
      case 1: Emit("st.shared.b16 [%t3+{}], {}", 2 * Below(16), H()); break;
      case 2: Emit("st.shared.b64 [%t3+{}], {}", 8 * Below(4), L()); break;
      case 3: Emit("st.shared.v4.f32 [%t3+{}], {{{}, {}, {}, {}}}", place, F(), F(), F(), F()); break;
      case 4: Emit("st.shared.u8 [%t3+{}], {}", Below(32), R()); break;
      default: Emit("st.shared.v2.b32 [%t3+{}], {{{}, {}}}", 8 * Below(4), R(), R()); break;
    }
    Emit("bar.sync 0");
    // Another thread's.
    Emit("add.u32 %t6, %t0, {}", Below(threads_));
    Emit("rem.u32 %t6, %t6, {}", threads_);
    Emit("shl.b32 %t6, %t6, 5");
    Emit("add.u32 %t6, %t6, %t4");
    switch (Below(7)) {
      case 0: Emit("ld.shared.b32 {}, [%t6+{}]", R(), 4 * Below(8)); break;
      case 1: Emit("ld.shared.b16 {}, [%t6+{}]", H(), 2 * Below(16)); break;
      case 2: Emit("ld.shared.b64 {}, [%t6+{}]", L(), 8 * Below(4)); break;
      case 3: Emit("ld.shared.v4.f32 {{%f0, %f1, %f2, %f3}}, [%t6+{}]", place); break;
      case 4: Emit("ld.shared.{} {}, [%t6+{}]", Word({"u8", "s8"}), R(), Below(32)); break;
      case 5: Emit("ld.shared.{} {}, [%t6+{}]", Word({"u16", "s16"}), R(), 2 * Below(16)); break;
      default: Emit("ld.shared.v2.b32 {{%r0, %r1}}, [%t6+{}]", 8 * Below(4)); break;
    }
    Emit("bar.sync 0");
  }
  void LocalMemory() {
    switch (Below(4)) {
      case 0: Emit("st.local.b32 [own+{}], {}", 4 * Below(16), R()); break;
      case 1: Emit("st.local.b64 [own+{}], {}", 8 * Below(8), L()); break;
      case 2: Emit("st.local.f32 [own+{}], {}", 4 * Below(16), F()); break;
      default: Emit("st.local.b16 [own+{}], {}", 2 * Below(32), H()); break;
    }
    switch (Below(4)) {
      case 0: Emit("ld.local.b32 {}, [own+{}]", R(), 4 * Below(16)); break;
      case 1: Emit("ld.local.b64 {}, [own+{}]", L(), 8 * Below(8)); break;
      case 2: Emit("ld.local.f32 {}, [own+{}]", F(), 4 * Below(16)); break;
      default: Emit("ld.local.b16 {}, [own+{}]", H(), 2 * Below(32)); break;
    }
  }
  // All on the same four words; the last four are only moved as floats.
  void Atomics() {
    const std::string at = fmt::format("[%a{}+{}]", static_cast<int>(ProgramBuffer::kSum), 4 * Below(4));
    const std::string other = fmt::format("[%a{}+{}]", static_cast<int>(ProgramBuffer::kSum), 16 + 4 * Below(4));
    switch (Below(7)) {
      case 0: Emit("atom.global.add.f32 {}, {}, {}", F(), other, F()); break;
      case 1: Emit("red.global.add.f32 {}, {}", other, F()); break;
      case 2:
        Emit("atom.global.{} {}, {}, {}",
             Word({"add.s32", "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "exch.b32"}), R(), at,
             R());
        break;
      case 3:
        Emit("red.global.{} {}, {}", Word({"add.u32", "min.u32", "max.s32", "inc.u32", "dec.u32"}), at, R());
        break;
      case 4: Emit("atom.global.cas.b32 {}, {}, {}, {}", R(), at, R(), R()); break;
      case 5: Emit("atom.global.add.noftz.f16x2 {}, {}, {}", R(), at, R()); break;
      default: Emit("atom.global.exch.b32 {}, {}, {}", R(), at, Rc()); break;
    }
  }
  void SharedAtomics() {
    Emit("bar.sync 0");
    switch (Below(4)) {
      case 0: Emit("atom.shared.add.f32 {}, [few+{}], {}", F(), 16 + 4 * Below(4), F()); break;
      case 1:
        Emit("atom.shared.{} {}, [few+{}], {}", Word({"add.u32", "min.s32", "exch.b32", "xor.b32"}), R(), 4 * Below(4),
             R());
        break;
      case 2: Emit("red.shared.{} [few+{}], {}", Word({"max.u32", "and.b32"}), 4 * Below(4), R()); break;
      default:
        Emit("and.b32 %t7, {}, 7", R());
        Emit("shl.b32 %t7, %t7, 2");
        Emit("mov.u32 %t5, few");
        Emit("add.u32 %t7, %t7, %t5");
        if (Chance(50)) Emit("atom.shared.add.u32 {}, [%t7], {}", R(), Rc());
        else Emit("ld.shared.b32 {}, [%t7]", R());
    }
    Emit("bar.sync 0");
  }
  // A sum by compare and swap.
  void Retry() {
    const uint32_t label = labels_++;
    const std::string at = fmt::format("[%a{}+{}]", static_cast<int>(ProgramBuffer::kSum), 16 + 4 * Below(4));
    Emit("ld.global.b32 %t7, {}", at);
    body_ += fmt::format("C{}:\n", label);
    Emit("mov.b32 %t6, %t7");
    Emit("mov.b32 %x0, %t6");
    Emit("add.f32 %x0, %x0, {}", F());
    Emit("mov.b32 %t5, %x0");
    Emit("atom.global.cas.b32 %t7, {}, %t6, %t5", at);
    Emit("setp.ne.s32 %q3, %t6, %t7");
    Emit("@%q3 bra C{}", label);
  }
  void DataBranch() {
    const uint32_t label = labels_++;
    Emit("setp.gt.f32 %q3, {}, {}", F(), F());
    Emit("@%q3 bra D{}", label);
    for (uint32_t k = Below(3) + 1; k > 0; --k) Chance(50) ? Float() : Integer();
    body_ += fmt::format("D{}:\n", label);
  }
  void Indirect() {
    const int table = static_cast<int>(ProgramBuffer::kTable), f32 = static_cast<int>(ProgramBuffer::kF32);
    Emit("and.b32 %t7, {}, {}", R(), kShared - 1);
    if (Chance(30)) {  // not in all lanes
      Emit("setp.lt.u32 %q0, %t0, {}", Below(64));
      Emit("selp.b32 %t7, %t7, {}, %q0", Below(kShared));
    }
    Emit("mul.wide.u32 %a{}, %t7, 4", kProgramBuffers + 1);
    switch (Below(5)) {
      case 0:  // of an input
        Emit("add.u64 %a{0}, %a{0}, %a{1}", kProgramBuffers + 1, f32);
        Emit("ld.global.f32 {}, [%a{}+{}]", F(), kProgramBuffers + 1, 4 * Below(8));
        break;
      case 1:
        Emit("add.u64 %a{0}, %a{0}, %a{1}", kProgramBuffers + 1, table);
        Emit("st.global.b32 [%a{}], {}", kProgramBuffers + 1, R());
        break;
      case 2:
        Emit("add.u64 %a{0}, %a{0}, %a{1}", kProgramBuffers + 1, table);
        Emit("{}.global.add.u32 {}[%a{}], {}", "red", "", kProgramBuffers + 1, Rc());
        break;
      case 3:
        Emit("add.u64 %a{0}, %a{0}, %a{1}", kProgramBuffers + 1, table);
        Emit("atom.global.add.u32 {}, [%a{}], {}", R(), kProgramBuffers + 1, R());
        break;
      default:
        Emit("add.u64 %a{0}, %a{0}, %a{1}", kProgramBuffers + 1, table);
        Emit("ld.global.b32 {}, [%a{}]", R(), kProgramBuffers + 1);
        break;
    }
  }
  void Loop() {
    if (nested_) return Float();
    nested_ = true;
    const uint32_t label = labels_++;
    const std::string counter = "%g0";
    Emit("mov.u16 %g0, 0");
    body_ += fmt::format("L{}:\n", label);
    for (uint32_t k = Below(4) + 1; k > 0; --k) Step();
    Emit("add.u16 %g0, %g0, 1");
    Emit("setp.lt.u16 %q1, %g0, {}", 2 + Below(4));
    Emit("@%q1 bra L{}", label);
    nested_ = false;
  }
  void Branch() {
    if (nested_) return Float();
    const uint32_t label = labels_++;
    Emit("setp.{}.u32 %q2, %t0, {}", Word({"lt", "gt", "eq"}), Below(40));
    Emit("@%q2 bra E{}", label);
    for (uint32_t k = Below(4) + 1; k > 0; --k) One<int>({0, 1, 2, 3}) == 0 ? Float() : Below(2) ? Integer() : Half();
    if (Chance(50)) {
      Emit("bra.uni F{}", label);
      body_ += fmt::format("E{}:\n", label);
      for (uint32_t k = Below(3); k > 0; --k) Chance(50) ? Bits() : Moves();
      body_ += fmt::format("F{}:\n", label);
    } else {
      body_ += fmt::format("E{}:\n", label);
    }
  }

  base::CounterRandom random_;
  uint64_t next_ = 0;
  uint32_t threads_ = 32, labels_ = 0;
  bool nested_ = false;
  std::string head_, body_, guard_;
};

}  // namespace

RandomProgram MakeRandomProgram(uint64_t seed) { return Generator(seed).Make(); }

}  // namespace warpwright::lift

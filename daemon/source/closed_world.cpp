#include "source/closed_world.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "source/tokens.h"

namespace warpwright::source {
namespace {

using Uses = core::CodeUses;

// Of the C library: memory and strings, conversions, sorting, printing, ending.
constexpr std::string_view kFunctions[] = {
    "abort",    "abs",     "aligned_alloc", "atof",    "atoi",    "atol",    "atoll",    "bsearch",  "calloc",
    "div",      "errno",   "exit",          "fflush",  "fprintf", "fputc",   "fputs",    "free",     "fwrite",
    "labs",     "ldiv",    "llabs",         "lldiv",   "malloc",  "memchr",  "memcmp",   "memcpy",   "memmove",
    "memset",   "perror",  "printf",        "putc",    "putchar", "puts",    "qsort",    "realloc",  "snprintf",
    "sprintf",  "stderr",  "stdout",        "strcat",  "strchr",  "strcmp",  "strcpy",   "strcspn",  "strerror",
    "strlen",   "strncat", "strncmp",       "strncpy", "strnlen", "strpbrk", "strrchr",  "strspn",   "strstr",
    "strtod",   "strtof",  "strtol",        "strtold", "strtoll", "strtoul", "strtoull", "tolower",  "toupper",
    "isalnum",  "isalpha", "isdigit",       "islower", "isprint", "isspace", "isupper",  "vfprintf", "vprintf",
    "vsnprintf"};
// <math.h>, each also with f and l.
constexpr std::string_view kMath[] = {
    "acos",   "acosh",     "asin",      "asinh", "atan",      "atan2",  "atanh",  "cbrt",  "ceil",    "copysign",
    "cos",    "cosh",      "erf",       "erfc",  "exp",       "exp10",  "exp2",   "expm1", "fabs",    "fdim",
    "floor",  "fma",       "fmax",      "fmin",  "fmod",      "frexp",  "hypot",  "ilogb", "ldexp",   "lgamma",
    "llrint", "llround",   "log",       "log10", "log1p",     "log2",   "logb",   "lrint", "lround",  "modf",
    "nan",    "nearbyint", "nextafter", "pow",   "remainder", "remquo", "rint",   "round", "scalbln", "scalbn",
    "sin",    "sincos",    "sinh",      "sqrt",  "tan",       "tanh",   "tgamma", "trunc"};
// What g++ itself refers to.
constexpr std::string_view kCompiler[] = {
    "_GLOBAL_OFFSET_TABLE_", "_Unwind_Resume", "__assert_fail", "__dso_handle", "__errno_location",
    "__gxx_personality_v0", "__stack_chk_fail", "__cxa_allocate_exception", "__cxa_atexit", "__cxa_bad_cast",
    "__cxa_begin_catch", "__cxa_end_catch", "__cxa_free_exception", "__cxa_guard_abort", "__cxa_guard_acquire",
    "__cxa_guard_release", "__cxa_pure_virtual", "__cxa_rethrow", "__cxa_throw", "__cxa_throw_bad_array_new_length",
    "__cxa_get_exception_ptr", "__dynamic_cast", "__muloti4", "__popcountdi2", "__divti3", "__modti3", "__udivti3",
    "__umodti3", "__ctype_b_loc", "__isoc99_sscanf",
    "__libc_single_threaded",  // whether a shared_ptr counts atomically
    // Half precision of the host's compiler.
    "__extendhfsf2", "__truncsfhf2", "__truncdfhf2"};
// Of libstdc++, by the beginnings of mangled names: new and delete, strings and string streams, printing, what
// containers call, exceptions and type information. Not the clock, threads, files, locales by name, random devices.
constexpr std::string_view kLibrary[] = {"_Znw",
                                         "_Zna",
                                         "_Zdl",
                                         "_Zda",
                                         "_ZSt7nothrow",
                                         "_ZNSaI",
                                         "_ZNSt7__cxx1112basic_string",
                                         "_ZNKSt7__cxx1112basic_string",
                                         "_ZNSt7__cxx1115basic_stringbuf",
                                         "_ZNKSt7__cxx1115basic_stringbuf",
                                         "_ZNSt7__cxx1118basic_stringstream",
                                         "_ZNKSt7__cxx1118basic_stringstream",
                                         "_ZNSt7__cxx1119basic_ostringstream",
                                         "_ZNKSt7__cxx1119basic_ostringstream",
                                         "_ZNSt7__cxx1119basic_istringstream",
                                         "_ZNKSt7__cxx1119basic_istringstream",
                                         "_ZNSo",
                                         "_ZNKSo",
                                         "_ZNSirs",
                                         "_ZNSi6ignore",
                                         "_ZStls",
                                         "_ZStpl",
                                         "_ZSteq",
                                         "_ZStrs",
                                         "_ZSt4cout",
                                         "_ZSt4cerr",
                                         "_ZSt4clog",
                                         "_ZSt4endl",
                                         "_ZSt5flush",
                                         "_ZSt16__ostream_insert",
                                         "_ZSt7getline",
                                         "_ZNSt9basic_ios",
                                         "_ZNKSt9basic_ios",
                                         "_ZNSt8ios_base4Init",
                                         "_ZNSt8ios_baseC",
                                         "_ZNSt8ios_baseD",
                                         "_ZNSt6localeC1Ev",
                                         "_ZNSt6localeC2Ev",
                                         "_ZNSt6localeD1Ev",
                                         "_ZNSt6localeD2Ev",
                                         "_ZSt17__throw_",
                                         "_ZSt16__throw_",
                                         "_ZSt18__throw_",
                                         "_ZSt19__throw_",
                                         "_ZSt20__throw_",
                                         "_ZSt21__throw_",
                                         "_ZSt24__throw_",
                                         "_ZSt25__throw_",
                                         "_ZSt28__throw_",
                                         "_ZSt9terminatev",
                                         "_ZSt11_Hash_bytes",
                                         "_ZSt18_Rb_tree_",
                                         "_ZSt28_Rb_tree_",
                                         "_ZSt29_Rb_tree_",
                                         "_ZNSt8__detail15_List_node_base",
                                         "_ZNSt8__detail20_Prime_rehash_policy",
                                         "_ZNKSt8__detail20_Prime_rehash_policy",
                                         "_ZNSt9exception",
                                         "_ZNKSt9exception",
                                         "_ZNSt11logic_error",
                                         "_ZNKSt11logic_error",
                                         "_ZNSt13runtime_error",
                                         "_ZNKSt13runtime_error",
                                         "_ZNSt16invalid_argument",
                                         "_ZNSt12out_of_range",
                                         "_ZNSt12length_error",
                                         "_ZNSt12domain_error",
                                         "_ZNSt11range_error",
                                         "_ZNSt14overflow_error",
                                         "_ZNSt15underflow_error",
                                         "_ZNSt9bad_alloc",
                                         "_ZNKSt9bad_alloc",
                                         "_ZNSt20bad_array_new_length",
                                         "_ZNSt8bad_cast",
                                         "_ZNKSt8bad_cast",
                                         "_ZNSt17bad_function_call",
                                         "_ZTVSt",
                                         "_ZTISt",
                                         "_ZTSSt",
                                         "_ZTTNSt7__cxx11",
                                         "_ZTVNSt7__cxx11",
                                         "_ZTIi",
                                         "_ZTIf",
                                         "_ZTId",
                                         "_ZTIPKc",
                                         "_ZTIv",
                                         "_ZTVN10__cxxabiv1"};
// Of the CUDA runtime, what callers and their machines decide, and every recording answers alike: whether a stream is
// captured and how it was made, what memory a pointer is of, versions, what is done already and how long it took. What
// depends on these cannot be seen to.
constexpr std::string_view kOfTheCaller[] = {
    "cudaDriverGetVersion",  "cudaEventElapsedTime",     "cudaEventQuery",     "cudaPointerGetAttributes",
    "cudaRuntimeGetVersion", "cudaStreamGetCaptureInfo", "cudaStreamGetFlags", "cudaStreamGetPriority",
    "cudaStreamIsCapturing", "cudaStreamQuery"};
// Names of these are the implementation's or the recorder's: nobody else may define them.
constexpr std::string_view kReserved[] = {"_ZN2ww", "_ZNK2ww", "_ZSt", "_ZNSt", "_ZNKSt", "_ZNSo",
                                          "_ZNSi",  "_Znw",    "_Zna", "_Zdl",  "_Zda"};
// What the compiled harness defines beside the user's code.
constexpr std::string_view kHarness[] = {"_ZN2ww7symbolsE", "_ZN2ww12symbol_countE", "_ZN2ww18has_callers_streamE",
                                         "_ZN2ww4CallEv"};
// Sections of ordinary code and data, by the beginnings of their names.
constexpr std::string_view kSections[] = {
    ".text", ".data", ".bss", ".rodata", ".eh_frame", ".gcc_except_table", ".init_array", ".note.gnu.property",
    ".tbss", ".tdata"};
// Builtins that compute, hint or name a place; what others return depends on the machine or the stack.
constexpr std::string_view kBuiltins[] = {"__builtin_expect",       "__builtin_assume_aligned",
                                          "__builtin_unreachable",  "__builtin_popcount",
                                          "__builtin_clz",          "__builtin_ctz",
                                          "__builtin_ffs",          "__builtin_parity",
                                          "__builtin_bswap",        "__builtin_mem",
                                          "__builtin_str",          "__builtin_inf",
                                          "__builtin_nan",          "__builtin_huge_val",
                                          "__builtin_is",           "__builtin_add_overflow",
                                          "__builtin_sub_overflow", "__builtin_mul_overflow",
                                          "__builtin_bit_cast",     "__builtin_fma",
                                          "__builtin_sqrt",         "__builtin_trap",
                                          "__builtin_abs",          "__builtin_types_compatible_p"};
// Attributes that change neither linkage nor when something runs.
constexpr std::string_view kAttributes[] = {"noinline",
                                            "always_inline",
                                            "unused",
                                            "maybe_unused",
                                            "aligned",
                                            "packed",
                                            "hot",
                                            "cold",
                                            "pure",
                                            "const",
                                            "nodiscard",
                                            "noreturn",
                                            "fallthrough",
                                            "likely",
                                            "unlikely",
                                            "deprecated",
                                            "no_unique_address",
                                            "flatten",
                                            "malloc",
                                            "nonnull",
                                            "warn_unused_result",
                                            "format",
                                            "may_alias",
                                            "gnu",
                                            "nv_pure",
                                            "artificial",
                                            "visibility"};
constexpr std::string_view kPragmas[] = {"unroll",           "nounroll",      "once",          "nv_exec_check_disable",
                                         "nv_diag_suppress", "nv_diagnostic", "diag_suppress", "hd_warning_disable",
                                         "region",           "endregion"};

template <size_t kCount>
bool IsOneOf(const std::string_view (&list)[kCount], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}
template <size_t kCount>
bool BeginsWithOneOf(const std::string_view (&list)[kCount], std::string_view name) {
  return std::any_of(std::begin(list), std::end(list), [&](std::string_view p) { return name.starts_with(p); });
}

bool IsMath(std::string_view name) {
  if (IsOneOf(kMath, name)) return true;
  const bool suffixed = name.ends_with('f') || name.ends_with('l');
  return suffixed && IsOneOf(kMath, name.substr(0, name.size() - 1));
}
// With _FORTIFY_SOURCE, memcpy is __memcpy_chk; with -ffast-math, exp is __exp_finite.
bool IsVariant(std::string_view name) {
  if (!name.starts_with("__")) return false;
  for (const std::string_view suffix : {"_chk", "_finite"})
    if (name.ends_with(suffix)) {
      const std::string_view plain = name.substr(2, name.size() - 2 - suffix.size());
      return IsOneOf(kFunctions, plain) || IsMath(plain);
    }
  return false;
}
bool MayRefer(std::string_view symbol) {
  return IsOneOf(kFunctions, symbol) || IsMath(symbol) || IsVariant(symbol) || IsOneOf(kCompiler, symbol) ||
         BeginsWithOneOf(kLibrary, symbol);
}
// Names that belong to the C library, to C++'s, or to the recorder: a definition would take their place.
bool IsReserved(std::string_view symbol) {
  if (IsOneOf(kHarness, symbol)) return false;
  if (symbol.starts_with("_Z")) return BeginsWithOneOf(kReserved, symbol);
  return MayRefer(symbol);
}

std::string Demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}
// "std::chrono::_V2::steady_clock::now()" -> "now"
std::string LastName(const std::string& demangled) {
  const std::string head = demangled.substr(0, demangled.find_first_of("(<["));
  const size_t colon = head.rfind("::");
  return colon == std::string::npos ? head : head.substr(colon + 2);
}

core::CodeUse OfHost(std::string what) {
  return {.kind = core::CodeUseKind::kHost, .format = {}, .detail = std::move(what)};
}

class Finder {
 public:
  Finder(const std::set<std::string>& recorder, const Slices& slices) : recorder_(recorder), slices_(slices) {
    Add(slices.file, slices.host);
    for (const auto& [name, text] : slices.host_headers) Add(name, text);
  }
  // At the first place of `token`, else at the entry.
  core::FoundUse Placed(core::CodeUse use, std::string text, const std::string& token) const {
    core::FoundUse found{
        .use = std::move(use), .instruction = std::move(text), .file = slices_.file, .line = slices_.entry_line};
    for (const auto& [file, tokens] : files_)
      for (const Token& t : tokens)
        if (!token.empty() && t.text == token) {
          found.file = file, found.line = t.line;
          return found;
        }
    return found;
  }
  Uses Find(const HostObject& object) {
    for (const std::string& symbol : object.undefined)
      if ((!MayRefer(symbol) && !recorder_.contains(symbol)) || IsOneOf(kOfTheCaller, LastName(Demangled(symbol))))
        AddSymbol(symbol, "");
    for (const std::string& symbol : object.defined)
      if (IsReserved(symbol) || recorder_.contains(symbol)) AddSymbol(symbol, "a definition of ");
    for (const std::string& symbol : object.weak) AddSymbol(symbol, "a weak definition of ");
    for (const std::string& symbol : object.indirect) AddSymbol(symbol, "a definition chosen at load time of ");
    for (const std::string& symbol : object.thread_local_symbols) AddSymbol(symbol, "thread-local ");
    for (const std::string& section : object.sections)
      if (!BeginsWithOneOf(kSections, section)) AddUse("the section " + section, "");
    for (const auto& [file, tokens] : files_) AddTokens(file, tokens);
    return std::move(uses_);
  }

 private:
  void Add(const std::string& file, const std::string& text) { files_.emplace_back(file, Lex(text)); }
  void AddSymbol(const std::string& symbol, const char* what) {
    const std::string name = Demangled(symbol);
    AddUse(what + name, LastName(name));
  }
  void AddUse(const std::string& name, const std::string& token) { uses_.insert(Placed(OfHost(name), name, token)); }
  void AddAt(const std::string& name, const std::string& file, const Token& token) {
    uses_.insert({.use = OfHost(name), .instruction = name, .file = file, .line = token.line});
  }

  void AddTokens(const std::string& file, const std::vector<Token>& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (!token.IsIdentifier()) continue;
      const std::string name = Spelling(token);
      if (name == "asm" || name == "__asm" || name == "__asm__") AddAt("inline assembly", file, token);
      else if (name == "thread_local" || name == "__thread") AddAt("thread-local state", file, token);
      else if (name.starts_with("__builtin_") && !BeginsWithOneOf(kBuiltins, name)) AddAt(name, file, token);
      else if (name.starts_with("__sync_") || name.starts_with("__atomic_")) AddAt(name, file, token);
      else if (name == "__attribute__" || name == "__attribute" || name == "__declspec")
        AddAttributes(file, tokens, i + 1);
      else if (name == "pragma" && i > 0 && tokens[i - 1].OpensDirective()) AddPragma(file, tokens, i + 1);
      else if (name == "_Pragma") AddAt("_Pragma", file, token);
    }
    for (size_t i = 0; i + 1 < tokens.size(); ++i)  // [[...]]; a subscript of a lambda is not at a declaration's start
      if (tokens[i].Is("[") && tokens[i + 1].Is("[")) AddAttributes(file, tokens, i);
  }
  // The names in the brackets that open at tokens[open], outside of inner parentheses.
  void AddAttributes(const std::string& file, const std::vector<Token>& tokens, size_t open) {
    if (open + 1 >= tokens.size()) return;
    const size_t inner = open + 1, close = MatchingBracket(tokens, inner);
    int depth = 0;
    for (size_t i = inner + 1; i < std::min(close, tokens.size()); ++i) {
      if (tokens[i].Is("(")) ++depth;
      if (tokens[i].Is(")")) --depth;
      if (depth > 0 || !tokens[i].IsIdentifier()) continue;
      std::string name = Spelling(tokens[i]);
      if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) name = name.substr(2, name.size() - 4);
      if (!IsOneOf(kAttributes, name)) AddAt("the attribute " + name, file, tokens[i]);
    }
  }
  void AddPragma(const std::string& file, const std::vector<Token>& tokens, size_t at) {
    if (at >= tokens.size() || !tokens[at].in_directive) return;
    const std::string name = Spelling(tokens[at]);
    const bool diagnostic = name == "GCC" && at + 1 < tokens.size() && tokens[at + 1].Is("diagnostic");
    if (!diagnostic && !IsOneOf(kPragmas, name)) AddAt("#pragma " + name, file, tokens[at]);
  }

  const std::set<std::string>& recorder_;
  const Slices& slices_;
  std::vector<std::pair<std::string, std::vector<Token>>> files_;
  Uses uses_;
};

}  // namespace

Uses FindForeignUses(const HostObject& object, const std::set<std::string>& recorder, const Slices& slices) {
  return Finder(recorder, slices).Find(object);
}

core::FoundUse PlaceUse(core::CodeUse use, std::string text, const std::string& token, const Slices& slices) {
  static const std::set<std::string> none;
  return Finder(none, slices).Placed(std::move(use), std::move(text), token);
}

Uses EntrySymbols(const HostObject& object, const Slices& slices) {
  Uses symbols;
  const std::string entry = LastName(slices.entry_name);
  for (const std::string& symbol : object.defined) {
    const std::string demangled = Demangled(symbol);
    if (LastName(demangled) != entry) continue;
    std::string name = symbol;
    if (demangled == symbol)  // C's linkage: the name says nothing of the parameters
      for (const core::ParameterInfo& parameter : slices.parameters)
        name += std::string(parameter.is_pointer ? " *" : " ") +
                std::string(parameter.dtype ? core::Name(*parameter.dtype) : "?");
    symbols.insert({.use = {.kind = core::CodeUseKind::kEntry, .format = {}, .detail = std::move(name)},
                    .instruction = demangled,
                    .file = slices.file,
                    .line = slices.entry_line});
  }
  return symbols;
}

}  // namespace warpwright::source

// What kernel stubs and rewritten launches call. Compiled into every host slice, so that what can stand in record_launches.cpp does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

struct CUstream_st;

namespace ww {

// The line of the user's file: what is compiled lacks the lines that are empty in the host slice, so that changes of
// device code leave it as it is (recorder_build.cpp); which line is which comes with a run's input.
int UserLine(const char* file, int line);
// The place of a call, as its last parameters.
#define WW_HERE const char *ww_file = __builtin_FILE(), int ww_line = ::ww::UserLine(__builtin_FILE(), __builtin_LINE())

[[noreturn]] void AssertFailed(const char* condition, const char* file, int line);

struct ParameterLayout {
  uint32_t bytes;
  bool pointer;
  bool writes;  // pointer to something not const
};
struct Parameters {
  const ParameterLayout* list;
  size_t count;
  size_t size() const { return count; }
  const ParameterLayout& operator[](size_t i) const { return list[i]; }
};
struct Kernel {
  Kernel(const std::string& kernel_name, Parameters layout);
  ~Kernel();
  std::string name;
  Parameters parameters;
};
struct Symbol {
  const char* name;
  const void* address;
  size_t bytes;
};
extern const Symbol* const symbols;  // of the file: __device__ and __constant__ variables
extern const size_t symbol_count;
void Call();  // the entry with the case's arguments, made by the harness

// ---- names, in source form

// "const char* ww::TypePretty() [with T = ns::F]" -> "ns::F"
std::string Bound(const char* pretty);
template <typename T>
const char* TypePretty() {
  return __PRETTY_FUNCTION__;
}
template <auto V>
const char* ValuePretty() {
  return __PRETTY_FUNCTION__;
}
template <typename T>
std::string TypeName() {
  return Bound(TypePretty<T>());
}
std::string BoundValue(const char* pretty);
template <auto V>
std::string ValueName() {
  return BoundValue(ValuePretty<V>());
}
template <typename T>
std::string ValueName() {  // of "template <Concept T>", in which tokens do not show a type
  return TypeName<T>();
}
template <auto K>
std::string PointerName() {
  return ValueName<K>();
}
// "void ns::k(T*, int) [with T = float]" -> "ns::k"
std::string PlainName(const char* pretty);
std::string InstanceOf(std::string name, std::initializer_list<std::string> arguments);
template <typename... Arguments>
std::string Instance(std::string name, const Arguments&... arguments) {
  return InstanceOf(std::move(name), {arguments...});
}
std::string Overload(const std::string& name, const std::string& type);

template <typename... Types>
struct LayoutOf {
  static constexpr ParameterLayout kList[] = {
      {static_cast<uint32_t>(sizeof(Types)), std::is_pointer_v<Types>,
       std::is_pointer_v<Types> && !std::is_const_v<std::remove_pointer_t<Types>>}...,
      {0, false, false}};  // a list of nothing is none
};
template <typename... Types>
Parameters Layout() {
  return {LayoutOf<Types...>::kList, sizeof...(Types)};
}

// ---- launching

// While a kernel is being identified by its address, its stub says who it is and touches no argument.
extern bool identifying;
void Identified(const Kernel& kernel);
struct Argument {
  const unsigned char* bytes;
  size_t size;
};
void RecordLaunch(const Kernel& kernel, std::initializer_list<Argument> arguments);

template <typename T>
struct BytesOf {
  explicit BytesOf(const T& value) {
    std::memcpy(copy, &value, sizeof(T));
    // Else the plan would hold what the stack held between the members.
    if constexpr (std::is_class_v<T> && std::is_trivially_copyable_v<T>) __builtin_clear_padding(reinterpret_cast<T*>(copy));
  }
  operator Argument() const { return {copy, sizeof(T)}; }
  alignas(T) unsigned char copy[sizeof(T)];
};
template <typename... Arguments>
void Launch(const Kernel& kernel, const Arguments&... arguments) {
  if (identifying) return Identified(kernel);
  RecordLaunch(kernel, {BytesOf<Arguments>(arguments)...});
}

// ---- the entry's arguments

// The one that the caller of an entry with such a parameter passes.
CUstream_st* CallersStream();
void MakeCallersStream();
extern const bool has_callers_stream;
void* BufferAddress(size_t index);
const unsigned char* ScalarBytes(size_t index, size_t bytes);
template <typename T>
T* TypedBuffer(size_t index) {
  return static_cast<T*>(BufferAddress(index));
}
struct AnyPointer {
  size_t index;
  template <typename T>
  operator T*() const {
    return static_cast<T*>(const_cast<std::remove_const_t<T>*>(TypedBuffer<std::remove_const_t<T>>(index)));
  }
};
// What the entry returns, if it is a value: bytes in hexadecimal digits.
void RecordReturned(const unsigned char* bytes, size_t size);
template <typename F>
void RecordCall(F call) {
  using T = decltype(call());
  if constexpr (std::is_void_v<T>) {
    call();
  } else {
    const T value = call();
    if constexpr (std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>) {
      const BytesOf<T> bytes(value);
      RecordReturned(bytes.copy, sizeof(T));
    }
  }
}
template <typename T>
T Scalar(size_t index) {
  T value;
  std::memcpy(static_cast<void*>(&value), ScalarBytes(index, sizeof(T)), sizeof(T));
  return value;
}

}  // namespace ww

#pragma once
#ifndef NULL
#define NULL 0
#endif
namespace std {
using ::size_t;
typedef decltype(nullptr) nullptr_t;
}  // namespace std

// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Just enough of a test framework for pure functions: CHECK_EQ prints both values and goes on.

#ifndef EMMY_UNITTEST_CHECK_H
#define EMMY_UNITTEST_CHECK_H

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace emmy::test {

struct Tally {
  int passed = 0, failed = 0;
};
inline Tally tally;

inline std::string show(const std::string &value) { return '"' + value + '"'; }
template <typename T> std::string show(const T &value) {
  if constexpr (std::is_arithmetic_v<T>)
    return std::to_string(value);
  else
    return "?";
}
template <typename T> std::string show(const std::vector<T> &values) {
  std::string text = "[";
  for (const T &value : values)
    text += (text.size() > 1 ? ", " : "") + show(value);
  return text + "]";
}
template <typename T> std::string show(const std::optional<T> &value) { return value ? show(*value) : "nothing"; }

template <typename A, typename B> void checkEqual(const A &actual, const B &expected, const char *text, int line) {
  if (actual == expected) {
    ++tally.passed;
    return;
  }
  ++tally.failed;
  std::cout << "line " << line << ": " << text << " is " << show(actual) << ", expected " << show(expected) << "\n";
}

} // namespace emmy::test

#define CHECK_EQ(ACTUAL, EXPECTED) ::emmy::test::checkEqual((ACTUAL), (EXPECTED), #ACTUAL, __LINE__)

#endif // EMMY_UNITTEST_CHECK_H

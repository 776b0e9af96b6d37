// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hardware maths against tables copied from the PTX ISA and the CUDA programming guide.

#include "../Check.h"

void testLayout();
void testSharedMemory();

int main() {
  testLayout();
  testSharedMemory();
  using emmy::test::tally;
  std::cout << tally.passed << " passed, " << tally.failed << " failed\n";
  return tally.failed != 0;
}

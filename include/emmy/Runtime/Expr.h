// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer expressions of a plan, compiled to postfix programs. Evaluation neither allocates nor throws; overflow and
// division by zero are kept as a fault in the context, so that a whole call is checked once.

#ifndef EMMY_RUNTIME_EXPR_H
#define EMMY_RUNTIME_EXPR_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstdint>

namespace emmy::runtime {

/// What an expression reads, and the first fault of the evaluations that shared it.
struct EvalContext {
  const int64_t *symbols = nullptr;
  const uintptr_t *addresses = nullptr; ///< One per buffer; read by `aligned` only.
  const char *fault = nullptr;
};

/// What an expression may name.
struct ExprScope {
  llvm::BitVector symbols;  ///< Bit i is set if `s<i>` is defined.
  unsigned numBuffers = 0;
  bool addresses = false; ///< Whether `aligned` is allowed: true for conditions.
};

class Expr {
public:
  Expr() : Expr(0) {}
  explicit Expr(int64_t constant) { program.push_back({Op::Constant, 0, constant}); }

  /// Compiles the JSON form `integer | "s0" | [op, a, b]`.
  static llvm::Expected<Expr> parse(const llvm::json::Value &json, const ExprScope &scope);

  int64_t evaluate(EvalContext &context) const {
    const Instr &first = program.front();
    if (program.size() == 1 && first.op == Op::Constant)
      return first.value;
    return run(context);
  }

  bool isConstant() const { return program.size() == 1 && program.front().op == Op::Constant; }

  /// The symbol this expression is, or -1 if it is anything else.
  int64_t getSymbol() const {
    return program.size() == 1 && program.front().op == Op::Symbol ? program.front().index : -1;
  }

private:
  enum class Op : uint8_t {
    Constant, Symbol, Aligned,
    Add, Sub, Mul, FloorDiv, CeilDiv, Mod, Min, Max, Less, LessEqual, Equal, Not,
    // `and` and `or` skip their right operand, which may divide by what the left one excluded.
    JumpIfFalse, JumpIfTrue, Truth
  };
  struct Instr {
    Op op;
    uint32_t index; ///< Symbol, buffer or jump target.
    int64_t value;  ///< Constant or alignment.
  };
  class Compiler;

  int64_t run(EvalContext &context) const;

  llvm::SmallVector<Instr, 1> program;
};

} // namespace emmy::runtime

#endif // EMMY_RUNTIME_EXPR_H

// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiler and evaluator of plan expressions.

#include "emmy/Runtime/Expr.h"

#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

namespace emmy::runtime {

/// Deepest operand stack; expressions that need more are refused when they are parsed.
static constexpr unsigned kMaxStack = 32;
static constexpr unsigned kMaxNesting = 128;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Appends the program of one JSON expression; tracks the stack depth it needs.
class Expr::Compiler {
public:
  Compiler(const ExprScope &scope, llvm::SmallVectorImpl<Instr> &program) : scope(scope), program(program) {}

  llvm::Error compile(const llvm::json::Value &json, unsigned nesting) {
    if (nesting > kMaxNesting)
      return fail("expression is nested too deeply");
    if (std::optional<int64_t> integer = json.getAsInteger())
      return push({Op::Constant, 0, *integer});
    if (std::optional<llvm::StringRef> name = json.getAsString())
      return compileSymbol(*name);
    const llvm::json::Array *list = json.getAsArray();
    std::optional<llvm::StringRef> op = list && !list->empty() ? list->front().getAsString() : std::nullopt;
    if (!op)
      return fail("expected an integer, a symbol or [op, operands...] as an expression");
    if (*op == "aligned")
      return compileAligned(*list);
    return compileOp(*op, *list, nesting);
  }

private:
  llvm::Error push(Instr instr) {
    program.push_back(instr);
    if (++depth > kMaxStack)
      return fail("expression needs too deep a stack");
    return llvm::Error::success();
  }

  llvm::Error compileSymbol(llvm::StringRef name) {
    unsigned index = 0;
    if (!name.consume_front("s") || name.getAsInteger(10, index) || index >= scope.symbols.size() ||
        !scope.symbols.test(index))
      return fail("unknown symbol 's" + name + "'");
    return push({Op::Symbol, index, 0});
  }

  llvm::Error compileAligned(const llvm::json::Array &list) {
    if (!scope.addresses)
      return fail("'aligned' is allowed in conditions only");
    if (list.size() != 3)
      return fail("'aligned' takes a buffer and a number of bytes");
    std::optional<int64_t> buffer = list[1].getAsInteger(), bytes = list[2].getAsInteger();
    if (!buffer || *buffer < 0 || *buffer >= scope.numBuffers)
      return fail("'aligned' names an unknown buffer");
    if (!bytes || *bytes <= 0)
      return fail("'aligned' expects a positive number of bytes");
    return push({Op::Aligned, static_cast<uint32_t>(*buffer), *bytes});
  }

  llvm::Error compileOp(llvm::StringRef name, const llvm::json::Array &list, unsigned nesting) {
    std::optional<Op> op = llvm::StringSwitch<std::optional<Op>>(name)
                               .Case("+", Op::Add).Case("-", Op::Sub).Case("*", Op::Mul)
                               .Case("floordiv", Op::FloorDiv).Case("ceildiv", Op::CeilDiv).Case("mod", Op::Mod)
                               .Case("min", Op::Min).Case("max", Op::Max)
                               .Case("<", Op::Less).Case("<=", Op::LessEqual).Case("==", Op::Equal)
                               .Case("and", Op::JumpIfFalse).Case("or", Op::JumpIfTrue).Case("not", Op::Not)
                               .Default(std::nullopt);
    if (!op)
      return fail("unknown operator '" + name + "'");
    size_t numOperands = *op == Op::Not ? 1 : 2;
    if (list.size() != numOperands + 1)
      return fail("operator '" + name + "' expects " + llvm::Twine(numOperands) + " operands, but got " +
                  llvm::Twine(list.size() - 1));
    size_t start = program.size();
    if (llvm::Error error = compile(list[1], nesting + 1))
      return error;
    if (*op == Op::Not)
      program.push_back({Op::Not, 0, 0});
    else if (llvm::Error error = compileRight(*op, list[2], nesting))
      return error;
    return fold(start);
  }

  llvm::Error compileRight(Op op, const llvm::json::Value &right, unsigned nesting) {
    bool logical = op == Op::JumpIfFalse || op == Op::JumpIfTrue;
    size_t jump = program.size();
    if (logical) {
      program.push_back({op, 0, 0});
      --depth;
    }
    if (llvm::Error error = compile(right, nesting + 1))
      return error;
    if (logical) {
      program.push_back({Op::Truth, 0, 0});
      program[jump].index = program.size();
      return llvm::Error::success();
    }
    program.push_back({op, 0, 0});
    --depth;
    return llvm::Error::success();
  }

  /// Replaces the program from `start` by its value if it reads nothing.
  llvm::Error fold(size_t start) {
    for (size_t i = start; i < program.size(); ++i)
      if (program[i].op == Op::Symbol || program[i].op == Op::Aligned)
        return llvm::Error::success();
    Expr constant;
    constant.program.assign(program.begin() + start, program.end());
    for (Instr &instr : constant.program)
      if (instr.op == Op::JumpIfFalse || instr.op == Op::JumpIfTrue)
        instr.index -= start;
    EvalContext context;
    int64_t value = constant.run(context);
    if (context.fault)
      return fail(llvm::Twine("constant expression has ") + context.fault);
    program.truncate(start);
    program.push_back({Op::Constant, 0, value});
    return llvm::Error::success();
  }

  const ExprScope &scope;
  llvm::SmallVectorImpl<Instr> &program;
  unsigned depth = 0;
};

llvm::Expected<Expr> Expr::parse(const llvm::json::Value &json, const ExprScope &scope) {
  Expr expr;
  expr.program.clear();
  if (llvm::Error error = Compiler(scope, expr.program).compile(json, 0))
    return std::move(error);
  return expr;
}

/// Rounds towards minus infinity; `kind` tells which of the three results is wanted.
template <typename Select>
static int64_t divide(int64_t a, int64_t b, EvalContext &context, Select select) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) {
    context.fault = b == 0 ? "a division by zero" : "an overflow";
    return 0;
  }
  int64_t quotient = a / b, remainder = a % b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) {
    --quotient;
    remainder += b;
  }
  return select(quotient, remainder);
}

int64_t Expr::run(EvalContext &context) const {
  int64_t stack[kMaxStack + 1];
  int64_t *top = stack; // The slot above the last value.
  for (size_t pc = 0; pc < program.size(); ++pc) {
    const Instr &instr = program[pc];
    // Leaves are pushed first, so a binary operator's operands are top[-2] and top[-1].
    switch (instr.op) {
    case Op::Constant: *top++ = instr.value; continue;
    case Op::Symbol: *top++ = context.symbols[instr.index]; continue;
    case Op::Aligned: *top++ = context.addresses[instr.index] % instr.value == 0; continue;
    case Op::Not: top[-1] = !top[-1]; continue;
    case Op::Truth: top[-1] = top[-1] != 0; continue;
    case Op::JumpIfFalse:
    case Op::JumpIfTrue:
      if ((top[-1] != 0) == (instr.op == Op::JumpIfTrue)) {
        top[-1] = instr.op == Op::JumpIfTrue;
        pc = instr.index - 1;
      } else {
        --top;
      }
      continue;
    default: break;
    }
    int64_t b = *--top, a = top[-1], &result = top[-1];
    bool overflow = false;
    switch (instr.op) {
    case Op::Add: overflow = __builtin_add_overflow(a, b, &result); break;
    case Op::Sub: overflow = __builtin_sub_overflow(a, b, &result); break;
    case Op::Mul: overflow = __builtin_mul_overflow(a, b, &result); break;
    case Op::FloorDiv: result = divide(a, b, context, [](int64_t q, int64_t) { return q; }); break;
    case Op::CeilDiv: result = divide(a, b, context, [](int64_t q, int64_t r) { return q + (r != 0); }); break;
    case Op::Mod: result = divide(a, b, context, [](int64_t, int64_t r) { return r; }); break;
    case Op::Min: result = std::min(a, b); break;
    case Op::Max: result = std::max(a, b); break;
    case Op::Less: result = a < b; break;
    case Op::LessEqual: result = a <= b; break;
    case Op::Equal: result = a == b; break;
    default: llvm_unreachable("not a binary operator");
    }
    if (overflow)
      context.fault = "an overflow";
  }
  return stack[0];
}

} // namespace emmy::runtime

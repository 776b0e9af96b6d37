// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Scheduler.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <ucontext.h>

namespace emmy::simulator {

/// Deep enough for nested regions and for printing a diagnostic; untouched pages cost nothing.
static constexpr size_t stackBytes = 1 << 20;

/// Stacks of fibers that have finished, for those that start: a large grid makes one for each CTA.
class StackPool {
public:
  ~StackPool() {
    for (void *stack : stacks)
      munmap(stack, stackBytes);
  }
  void *take() {
    if (!stacks.empty()) {
      void *stack = stacks.back();
      stacks.pop_back();
      return stack;
    }
    void *stack = mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) {
      std::fputs("emmy: no memory for the stack of a simulated unit\n", stderr);
      std::abort();
    }
    return stack;
  }
  void give(void *stack) {
    if (stacks.size() < 64)
      stacks.push_back(stack);
    else
      munmap(stack, stackBytes);
  }

private:
  std::vector<void *> stacks;
};
static thread_local StackPool stackPool;

struct Fiber::Context {
  ucontext_t context;
  void *stack = stackPool.take();
  bool started = false;
  ~Context() { stackPool.give(stack); }
};

struct Scheduler::MainContext {
  ucontext_t context;
};

Fiber::Fiber(std::string name, std::string role, std::function<void()> body)
    : name(std::move(name)), role(std::move(role)), context(std::make_unique<Context>()), body(std::move(body)) {}

Fiber::~Fiber() = default;

Scheduler::Scheduler(const SchedulePolicy &policy)
    : generator(policy.seed), mainContext(std::make_shared<MainContext>()) {
  const std::string prefix = "delay=";
  if (policy.text.compare(0, prefix.size(), prefix) == 0)
    delayed = policy.text.substr(prefix.size());
  // Each seed favours some units and starves others, so that phases drift apart as they do on the hardware.
  asyncWeight = std::ldexp(1.0, -static_cast<int>(generator() % 7));
}

Fiber &Scheduler::spawn(std::string name, std::string role, std::function<void()> body) {
  fibers.push_back(std::make_unique<Fiber>(std::move(name), std::move(role), std::move(body)));
  fibers.back()->weight = std::ldexp(1.0, -static_cast<int>(generator() % 7));
  return *fibers.back();
}

void Scheduler::post(uint64_t queue, std::function<void()> event) { queues[queue].push_back({std::move(event)}); }

void Scheduler::entry(unsigned low, unsigned high) {
  auto *self = reinterpret_cast<Scheduler *>((static_cast<uintptr_t>(high) << 32) | low);
  Fiber &fiber = *self->current;
  fiber.body();
  fiber.finished = true;
  swapcontext(&fiber.context->context, &self->mainContext->context);
}

void Scheduler::resume(Fiber &fiber) {
  current = &fiber;
  Fiber::Context &context = *fiber.context;
  if (!context.started) {
    context.started = true;
    getcontext(&context.context);
    context.context.uc_stack.ss_sp = context.stack;
    context.context.uc_stack.ss_size = stackBytes;
    context.context.uc_link = nullptr;
    const auto address = reinterpret_cast<uintptr_t>(this);
    makecontext(&context.context, reinterpret_cast<void (*)()>(&Scheduler::entry), 2,
                static_cast<unsigned>(address & 0xffffffffu), static_cast<unsigned>(address >> 32));
  }
  swapcontext(&mainContext->context, &context.context);
  current = nullptr;
}

bool Scheduler::yield() {
  assert(current && "only fibers give way");
  swapcontext(&current->context->context, &mainContext->context);
  return !stopped;
}

bool Scheduler::wait(mlir::Operation *site, std::function<bool()> ready, std::function<std::string()> waitingFor) {
  Fiber &fiber = *current;
  fiber.site = site;
  fiber.ready = std::move(ready);
  fiber.waitingFor = std::move(waitingFor);
  const bool running = yield();
  fiber.ready = nullptr;
  fiber.waitingFor = nullptr;
  return running;
}

void Scheduler::candidates(std::vector<Candidate> &list) {
  list.clear();
  for (const std::unique_ptr<Fiber> &fiber : fibers)
    if (!fiber->finished && (!fiber->ready || fiber->ready()))
      list.push_back({fiber.get(), 0, 0, fiber->weight});
  for (auto &[queue, events] : queues) {
    const size_t eligible = queue == 0 ? events.size() : std::min<size_t>(events.size(), 1);
    for (size_t i = 0; i < eligible; ++i)
      list.push_back({nullptr, queue, i, asyncWeight});
  }
  if (delayed.empty())
    return;
  const auto isDelayed = [&](const Candidate &candidate) {
    return candidate.fiber ? candidate.fiber->role == delayed : delayed == "async";
  };
  if (!std::all_of(list.begin(), list.end(), isDelayed))
    list.erase(std::remove_if(list.begin(), list.end(), isDelayed), list.end());
}

const Scheduler::Candidate &Scheduler::choose(const std::vector<Candidate> &list) {
  double total = 0;
  for (const Candidate &candidate : list)
    total += candidate.weight;
  double at = std::uniform_real_distribution<double>(0, total)(generator);
  for (const Candidate &candidate : list)
    if ((at -= candidate.weight) <= 0)
      return candidate;
  return list.back();
}

std::vector<const Fiber *> Scheduler::run(uint64_t maxSteps) {
  std::vector<Candidate> list;
  while (!stopped && stepCount < std::min(maxSteps, lastStep)) {
    candidates(list);
    if (list.empty())
      break;
    ++stepCount;
    const Candidate chosen = choose(list);
    if (chosen.fiber) {
      resume(*chosen.fiber);
      if (chosen.fiber->finished)
        fibers.erase(std::find_if(fibers.begin(), fibers.end(), [&](const auto &f) { return f.get() == chosen.fiber; }));
      continue;
    }
    std::deque<Event> &events = queues[chosen.queue];
    Event event = std::move(events[chosen.index]);
    events.erase(events.begin() + chosen.index);
    if (events.empty())
      queues.erase(chosen.queue);
    event.action();
  }
  std::vector<const Fiber *> blocked;
  for (const std::unique_ptr<Fiber> &fiber : fibers)
    if (!fiber->finished)
      blocked.push_back(fiber.get());
  return blocked;
}

void Scheduler::collect() {
  stopped = true;
  // Fibers that were stopped half way unwind now: every wait and yield returns false to them.
  for (size_t i = 0; i < fibers.size(); ++i)
    while (!fibers[i]->finished && fibers[i]->context->started)
      resume(*fibers[i]);
  fibers.clear();
  queues.clear();
}

} // namespace emmy::simulator

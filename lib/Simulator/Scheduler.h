// Part of the Emmy project, under the Apache License v2.0 with LLVM Exceptions. See LICENSE for details.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cooperative fibers and asynchronous events under one seeded choice of what happens next. The adversarial policy
// starves one role (or the asynchronous engines) for as long as anything else can move.

#ifndef EMMY_LIB_SIMULATOR_SCHEDULER_H
#define EMMY_LIB_SIMULATOR_SCHEDULER_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace mlir {
class Operation;
}

namespace emmy::simulator {

/// A fiber with its own stack; switched to and from by the scheduler only.
class Fiber {
public:
  Fiber(std::string name, std::string role, std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber &) = delete;

  const std::string name;
  /// What the adversarial policy matches; empty outside roles.
  const std::string role;
  /// Set while the fiber waits: true once it may go on.
  std::function<bool()> ready;
  /// What it waits for, evaluated only when a deadlock is reported.
  std::function<std::string()> waitingFor;
  /// The op it waits at.
  mlir::Operation *site = nullptr;
  bool finished = false;

private:
  friend class Scheduler;
  struct Context;
  std::unique_ptr<Context> context;
  std::function<void()> body;
  double weight = 1;
};

struct SchedulePolicy {
  uint64_t seed = 0;
  /// "random", or "delay=ROLE" where ROLE is a role's name or "async" for TMA and wgmma completions.
  std::string text = "random";
};

class Scheduler {
public:
  explicit Scheduler(const SchedulePolicy &policy);

  /// Starts a fiber; it runs when `run` or another fiber gives way. The scheduler owns it.
  Fiber &spawn(std::string name, std::string role, std::function<void()> body);

  /// Queues an asynchronous completion. Events of one queue complete in order; queue 0 has no order.
  void post(uint64_t queue, std::function<void()> event);

  /// Lets others run. False if the simulation has been stopped: the caller unwinds.
  bool yield();

  /// Blocks the current fiber until `ready` holds. False if the simulation has been stopped.
  bool wait(mlir::Operation *site, std::function<bool()> ready, std::function<std::string()> waitingFor);

  /// Runs until every fiber has finished and every event has happened, or nothing can move, or `stop` was called, or `maxSteps` are up.
  /// Returns the blocked fibers (empty unless deadlocked).
  std::vector<const Fiber *> run(uint64_t maxSteps);

  void stop() { stopped = true; }
  /// Makes `run` end that many steps from now.
  void stopAfter(uint64_t steps) { lastStep = std::min(lastStep, stepCount + steps); }
  bool isStopped() const { return stopped; }
  const Fiber *currentFiber() const { return current; }
  /// Unwinds and drops what is left after a stop.
  void collect();
  uint64_t steps() const { return stepCount; }
  std::mt19937_64 &random() { return generator; }

private:
  struct Event {
    std::function<void()> action;
  };
  struct Candidate {
    Fiber *fiber;
    uint64_t queue;
    size_t index;
    double weight;
  };
  void candidates(std::vector<Candidate> &list);
  const Candidate &choose(const std::vector<Candidate> &list);
  void resume(Fiber &fiber);
  static void entry(unsigned low, unsigned high);

  std::mt19937_64 generator;
  std::string delayed;
  double asyncWeight = 1;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::map<uint64_t, std::deque<Event>> queues;
  Fiber *current = nullptr;
  struct MainContext;
  std::shared_ptr<MainContext> mainContext;
  bool stopped = false;
  uint64_t stepCount = 0, lastStep = std::numeric_limits<uint64_t>::max();
};

} // namespace emmy::simulator

#endif // EMMY_LIB_SIMULATOR_SCHEDULER_H

include "dialects/Sched/SchedOps.td"

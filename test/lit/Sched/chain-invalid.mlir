// RUN: emmy-opt %s -split-input-file -verify-diagnostics
// Texts that are no chain schedule.

// expected-error @below {{a chain schedule has no field 'width'}}
module attributes {a = #emmy_sched.chain<rows = [m: 128], over = [n: 128], width = 3>} {}

// -----

// expected-error @below {{a chain schedule needs rows such as [m: 128] and an axis to fold over such as [n: 128]}}
module attributes {a = #emmy_sched.chain<rows = [m: 128]>} {}

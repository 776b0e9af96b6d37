// RUN: emmy-opt %s -split-input-file -verify-diagnostics
// Texts that are no chain schedule.

// expected-error @below {{a chain schedule has no field 'width'; its fields are rows, over, stages, consumers, registers, section, epilogue, last_first}}
module attributes {a = #emmy_sched.chain<rows = [m: 128], over = [n: 128], width = 3>} {}

// -----

// expected-error @below {{a chain schedule needs each of its fields, but has no over, stages, consumers, registers, section, epilogue}}
module attributes {a = #emmy_sched.chain<rows = [m: 128]>} {}

// -----

// expected-error @below {{the field 'last_first' is there twice}}
module attributes {a = #emmy_sched.chain<last_first, rows = [m: 128], last_first>} {}

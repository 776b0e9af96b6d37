// RUN: emmy-opt %s -split-input-file -verify-diagnostics
// Texts that are no contraction schedule or no axis.

// expected-error @below {{a contraction schedule has no field 'depth'; its fields are tile, step, stages, consumers, cluster, multicast, raster, wait, epilogue, mma, persistent}}
func.func private @field() attributes {s = #emmy_sched.contraction<tile = [m: 64, n: 64], depth = 3>}

// -----

// expected-error @below {{a contraction schedule needs each of its fields, but has no step, cluster, multicast, raster, wait, epilogue, mma}}
func.func private @missing() attributes {s = #emmy_sched.contraction<tile = [m: 64, n: 64], stages = 2, consumers = 1>}

// -----

// expected-error @below {{the field 'stages' is there twice}}
func.func private @repeated() attributes {s = #emmy_sched.contraction<tile = [m: 64, n: 64], stages = 8, stages = 2>}

// -----

// expected-error @below {{expects one of none, a, b, but got 'c'}}
func.func private @side() attributes {s = #emmy_sched.contraction<tile = [m: 64, n: 64], multicast = c>}

// -----

// expected-error @below {{expects one of wgmma, mma_sync, fma, but got 'foo'}}
func.func private @unit() attributes {s = #emmy_sched.contraction<tile = [m: 64, n: 64], mma = foo>}

// -----

// expected-error @below {{expects one of grid, serial, whole}}
func.func private @kind() attributes {s = #emmy_sched.axis<m = 8 by 8 7>}

import { setFlagsFromString } from 'node:v8'

/**
 * V8 collects young objects with a thread a core. Little of a call survives, so that these threads mostly wait for one another, on busy cores
 * until the last of them has had its turn: 124 µs of CPU a call with one thread, 136 with several (tests/bench/gateway.ts, 64 connections).
 */
export function tuneCollector(): void {
  setFlagsFromString('--no-parallel-scavenge')
}

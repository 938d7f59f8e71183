import { setFlagsFromString } from 'node:v8'

/**
 * V8 collects young objects with a thread a core. Little of a call survives, so that these threads mostly wait for one another, on busy cores
 * until the last of them has had its turn: 124 µs of CPU a call with one thread, 136 with several (tests/bench/gateway.ts, 64 connections).
 *
 * It counts the bytes of buffers as if they were old objects, and begins to mark the whole heap as soon as there is less room than for all new
 * objects (64 MB): every 2,000 calls, for buffers that the next collection of young objects frees. Marking waits until four fifths of the
 * room are used: 126 µs instead of 155, and 222 MB resident instead of 312 (medians of five rounds beside each other).
 */
export function tuneCollector(): void {
  setFlagsFromString('--no-parallel-scavenge')
  setFlagsFromString('--incremental-marking-soft-trigger=80')
  setFlagsFromString('--incremental-marking-hard-trigger=90')
}

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOfTree, memoryOfTree } from './bench-process.ts'
import type { Pipeline } from './start-pipeline.ts'

export interface PipelineReading {
  scored: number
  delivered: number
  /** CPU time in microseconds, by component. */
  cpuUs: Record<string, number>
  kafkaBytes: number
  postgresBytes: number
}

/** Resources that one call takes. */
export interface CallCost {
  cpuSecondsPerMillion: Record<string, number>
  total: number
  /** Bytes in one replica of the log; bytes stored, with indexes. */
  kafkaBytes: number
  postgresBytes: number
  deliveries: number
}

export interface PipelineMeter {
  /** Calls whose scores can be read. */
  scored(): Promise<number>
  read(): Promise<PipelineReading>
  cost(before: PipelineReading, after: PipelineReading): CallCost
  /** CPU milliseconds that all parts use per second without calls. */
  idle(seconds: number): Promise<number>
}

export function createPipelineMeter(pipeline: Pipeline): PipelineMeter {
  const { database, kafkaLog, delivered } = pipeline
  const cpu = () => readComponents(pipeline, cpuOfTree)
  const scored = () => countScored(pipeline)
  return {
    scored,
    async read() {
      const { rows } = await database.query<{ bytes: string }>(
        'select pg_database_size(current_database()) as bytes',
      )
      return {
        scored: await scored(),
        delivered: await delivered(),
        cpuUs: cpu(),
        kafkaBytes: bytesOfLog(kafkaLog),
        postgresBytes: Number(rows[0]?.bytes),
      }
    },
    cost(before, after) {
      const calls = after.scored - before.scored
      const parts = Object.entries(after.cpuUs).map(([name, us]): [string, number] => [
        name,
        Math.round((us - (before.cpuUs[name] ?? 0)) / calls),
      ])
      return {
        cpuSecondsPerMillion: Object.fromEntries(parts),
        total: parts.reduce((sum, [, seconds]) => sum + seconds, 0),
        kafkaBytes: Math.round((after.kafkaBytes - before.kafkaBytes) / calls),
        postgresBytes: Math.round((after.postgresBytes - before.postgresBytes) / calls),
        deliveries: Number(((after.delivered - before.delivered) / calls).toFixed(3)),
      }
    },
    async idle(seconds) {
      const before = cpu()
      await sleep(seconds * 1_000)
      const us = Object.entries(cpu()).reduce((sum, [name, now]) => sum + now - (before[name] ?? 0), 0)
      return Math.round(us / 1_000 / seconds)
    },
  }
}

/** Resident megabytes of each component. */
export function memoryOfComponents(pipeline: Pipeline): Record<string, number> {
  return readComponents(pipeline, (pid) => memoryOfTree(pid) / 2 ** 20)
}

function readComponents({ components }: Pipeline, read: (pid: number) => number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(components()).map(([name, pids]) => [name, pids.reduce((sum, pid) => sum + read(pid), 0)]),
  )
}

/**
 * From the roll-ups, which the transaction of the scores writes: counting calls would cost more than storing
 * them.
 */
async function countScored({ database }: Pipeline): Promise<number> {
  const { rows } = await database.query<{ calls: string }>(
    'select coalesce(sum(verdict_safe + verdict_unscored + verdict_unsafe), 0) as calls from call_rollups',
  )
  return Number(rows[0]?.calls)
}

/** Without indexes, which are preallocated in full size. */
function bytesOfLog(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.log') && !entry.parentPath.includes('__'))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

import { answersAt } from '#infra/embedded/answers-at.ts'
import { isAlive, readRecord, type ProcessStatus } from './stack-record.ts'
import { statePaths } from './state-directory.ts'

const PROBE_TIMEOUT_MS = 2000

export interface StatusReport {
  text: string
  allUp: boolean
}

/** Probes every process of the stack, so "up" means that it answers now. */
export async function describeStatus(stateDirectory: string): Promise<StatusReport> {
  const record = await readRecord(statePaths(stateDirectory).record)
  if (!record || !isAlive(record.supervisor)) {
    return { text: `Sluice does not run on ${stateDirectory}.`, allUp: false }
  }
  const rows = await Promise.all(
    record.processes.map(async (part) => ({ ...part, state: await currentState(part) })),
  )
  const table = [
    ['process', 'pid', 'port', 'state', 'restarts'],
    ...rows.map((row) => [row.name, row.pid ?? '-', row.port ?? '-', row.state, row.restarts].map(String)),
    ['supervisor', String(record.supervisor.pid), '-', record.phase, '-'],
  ]
  const allUp =
    record.phase === 'ready' && rows.every(({ state }) => state === 'up' || state === 'up (external)')
  return { text: format(table), allUp }
}

async function currentState({ state, probe }: ProcessStatus): Promise<string> {
  const answers = await answersNow(new URL(probe))
  if (state === 'external') return answers ? 'up (external)' : 'does not answer (external)'
  if (state === 'up' || state === 'starting') return answers ? 'up' : state === 'up' ? 'not ready' : state
  return state
}

async function answersNow(probe: URL): Promise<boolean> {
  if (probe.protocol === 'tcp:') return answersAt(probe)
  try {
    const answer = await fetch(probe, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    // Refused, reset or timed out: not up.
    return false
  }
}

function format(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

import type { Say } from '#infra/embedded/embedded-part.ts'
import { identityOf, writeRecord, type ProcessStatus, type StackRecord } from './stack-record.ts'
import { superviseProcess, type ProcessToSupervise, type SupervisedProcess } from './supervise-process.ts'

/** The stage at which a process stops: writers first, what they write to last. */
export type Stage = 'front' | 'middle' | 'parts'
const STAGES: readonly Stage[] = ['front', 'middle', 'parts']

export interface Place {
  name: string
  port: number | null
  /** See {@link ProcessStatus}. */
  probe: string
  stage: Stage
}

interface Entry extends Place {
  supervised: SupervisedProcess | undefined
  external: boolean
}

/** All processes of a running stack, written to the state directory after each change. */
export interface Roster {
  /** Starts the process. Resolves when it is ready. */
  add(place: Place, plan: Omit<ProcessToSupervise, 'name' | 'changed'>): Promise<void>
  /** Lists a part that runs elsewhere. */
  addExternal(place: Place): void
  setPhase(phase: StackRecord['phase']): Promise<void>
  /** Stops all processes, stage by stage. */
  stop(): Promise<void>
}

export function createRoster(file: string, portOffset: number, say: Say): Roster {
  const entries: Entry[] = []
  const supervisor = { pid: process.pid, identity: identityOf(process.pid) }
  let phase: StackRecord['phase'] = 'starting'
  let written = Promise.resolve()
  const save = () => {
    // One write at a time, each with the current state; a failed one must not stop later ones.
    const next = written.then(() =>
      writeRecord(file, { supervisor, portOffset, phase, processes: entries.map(statusOf) }),
    )
    written = next.catch(() => undefined)
    return next
  }
  const changed = () =>
    void save().catch((error: unknown) => {
      say(`${file} could not be written, --status will be wrong: ${String(error)}`)
    })
  return {
    add: async (place, plan) => {
      const entry: Entry = { ...place, supervised: undefined, external: false }
      entries.push(entry)
      entry.supervised = await superviseProcess({ ...plan, name: place.name, changed })
      await save()
    },
    addExternal: (place) => {
      entries.push({ ...place, supervised: undefined, external: true })
      changed()
    },
    setPhase: (next) => {
      phase = next
      return save()
    },
    stop: async () => {
      for (const stage of STAGES) {
        const here = entries.filter((entry) => entry.stage === stage)
        await Promise.all(here.map(async (entry) => entry.supervised?.stop()))
      }
      await written
    },
  }
}

function statusOf({ name, port, probe, supervised, external }: Entry): ProcessStatus {
  if (external) return { name, port, probe, pid: null, identity: '', state: 'external', restarts: 0 }
  const status = supervised?.status() ?? { pid: null, state: 'starting', restarts: 0 }
  return { name, port, probe, ...status, identity: status.pid === null ? '' : identityOf(status.pid) }
}

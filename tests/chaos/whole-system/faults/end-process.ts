import { signalGroup } from '#infra/embedded/guarded-process.ts'
import { processNames } from '../fixture/roster.ts'
import type { Fixture } from '../fixture/start-fixture.ts'
import { awaitService } from './await-recovery.ts'
import type { Fault } from './fault.ts'

function serviceOf(fixture: Fixture, target: string) {
  const service = fixture.services.get(target)
  if (service === undefined) throw new Error(`there is no ${target}`)
  return service
}

async function end(fixture: Fixture, target: string, signal: 'SIGKILL' | 'SIGTERM') {
  const service = serviceOf(fixture, target)
  await fixture.losses.note(target)
  const pid = service.pid()
  signalGroup(pid, signal)
  // Restarted a second after its end, as by any supervisor.
  return () => awaitService(service, pid)
}

/** Sends SIGKILL. */
export const killProcess: Fault = {
  kind: 'kill-process',
  targets: processNames,
  lastsMs: [0, 0],
  weight: 4,
  holds: (target) => [target],
  begin: (fixture, target) => end(fixture, target, 'SIGKILL'),
}

/** Alive but silent, for longer or shorter than a consumer group's session (10 s). */
export const pauseProcess: Fault = {
  kind: 'pause-process',
  targets: processNames,
  lastsMs: [1_500, 20_000],
  weight: 3,
  holds: (target) => [target],
  begin: (fixture, target) => {
    const service = serviceOf(fixture, target)
    const pid = service.pid()
    signalGroup(pid, 'SIGSTOP')
    return Promise.resolve(() => {
      signalGroup(pid, 'SIGCONT')
      return awaitService(service)
    })
  },
}

/** Restarts every process in order, one after the other, like an upgrade. */
export const restartAll: Fault = {
  kind: 'restart-all',
  targets: ['all'],
  // About as long as it takes.
  lastsMs: [45_000, 45_000],
  holds: () => processNames,
  begin: (fixture) => {
    const all = (async () => {
      for (const name of processNames) await (await end(fixture, name, 'SIGTERM'))()
    })()
    // The inverse awaits it; until then its failure must not end this process.
    all.catch(() => undefined)
    return Promise.resolve(() => all)
  },
}

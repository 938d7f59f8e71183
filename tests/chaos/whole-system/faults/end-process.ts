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
  // It is started again a second after its end, as by any supervisor.
  return () => awaitService(service, pid)
}

/** `kill -9` in the middle of whatever it does. */
export const killProcess: Fault = {
  kind: 'kill-process',
  targets: processNames,
  lastsMs: [0, 0],
  weight: 4,
  holds: (target) => [target],
  begin: (fixture, target) => end(fixture, target, 'SIGKILL'),
}

/** Alive, and silent: longer than a session of a consumer group lasts (10 s), or shorter. */
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

/** Every process is stopped in order and started again, one after the other, as an upgrade does it. */
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
    // Awaited by the inverse; until then its failure must not end this process.
    all.catch(() => undefined)
    return Promise.resolve(() => all)
  },
}

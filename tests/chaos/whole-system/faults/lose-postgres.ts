import type { Fault } from './fault.ts'

const postgresFault = { targets: ['postgres'], holds: () => ['postgres'] }

export const killPostgres: Fault = {
  ...postgresFault,
  kind: 'kill-postgres',
  lastsMs: [500, 30_000],
  begin: async ({ parts }) => {
    await parts.postgres.kill()
    return () => parts.postgres.restart()
  },
}

export const pausePostgres: Fault = {
  ...postgresFault,
  kind: 'pause-postgres',
  lastsMs: [1_000, 15_000],
  begin: ({ parts }) => {
    parts.postgres.pause()
    return Promise.resolve(() => parts.postgres.resume())
  },
}

/** Kills the server for good and promotes its standby. */
export const failOverPostgres: Fault = {
  ...postgresFault,
  kind: 'fail-over-postgres',
  lastsMs: [0, 0],
  atMost: 1,
  begin: ({ parts }) => {
    const done = parts.postgres.failOver()
    // The inverse awaits it; until then its failure must not end this process.
    done.catch(() => undefined)
    return Promise.resolve(() => done)
  },
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { ofProcess } from './of-process.ts'
import type { Session } from './types.ts'

/** One for all clients of the process: a session applies to everything called inside it. */
const current = ofProcess('session', () => new AsyncLocalStorage<Session>())

/** The caller's session over `base`; metadata is merged. */
export function currentSession(base: Session): Session {
  const inner = current.getStore()
  return inner === undefined ? base : joined(base, inner)
}

/** Runs `work` inside `session`, including promises, timers and streams that it starts. */
export function runInSession<T>(session: Session, work: () => T): T {
  return current.run(joined(current.getStore() ?? {}, session), work)
}

function joined(outer: Session, inner: Session): Session {
  const metadata =
    outer.metadata === undefined && inner.metadata === undefined
      ? undefined
      : { ...outer.metadata, ...inner.metadata }
  return {
    sessionId: inner.sessionId ?? outer.sessionId,
    agentName: inner.agentName ?? outer.agentName,
    agentTag: inner.agentTag ?? outer.agentTag,
    userId: inner.userId ?? outer.userId,
    metadata,
    context: inner.context ?? outer.context,
  }
}

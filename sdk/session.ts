import { AsyncLocalStorage } from 'node:async_hooks'
import { plainValue } from './capturing/plain-value.ts'
import type { Session } from './types.ts'

/** One for all clients of the process: a session holds for whatever is called inside it. */
const current = new AsyncLocalStorage<Session>()

/** The session around the caller, over `base`: its fields stand, metadata is joined. */
export function currentSession(base: Session): Session {
  const inner = current.getStore()
  return inner === undefined ? base : joined(base, inner)
}

/** Runs `work` inside `session`, through promises, timers and streams that begin in it. */
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
  }
}

/** The fields of a record that a session gives. */
export interface SessionFields {
  agent_name?: string
  agent_tag?: string
  session_id?: string
  user_id?: string
  metadata?: Record<string, unknown>
}

/** Ingest takes labels of 256 characters: longer ones are cut, not refused with their call. */
const maxLabelLength = 256

export function sessionFields({ agentName, agentTag, sessionId, userId, metadata }: Session): SessionFields {
  return {
    ...label('agent_name', agentName),
    ...label('agent_tag', agentTag),
    ...label('session_id', sessionId),
    ...label('user_id', userId),
    // Whatever the program put there: a cycle or a BigInt would throw when it is written.
    ...(metadata === undefined ? {} : { metadata: plainValue(metadata) as Record<string, unknown> }),
  }
}

function label(name: keyof SessionFields, text: string | undefined): SessionFields {
  return text === undefined || text === '' ? {} : { [name]: text.slice(0, maxLabelLength) }
}

import type { Pool, PoolClient } from 'pg'
import { query } from '#runtime/postgres.ts'

/** Searches of a project at once, over all API processes. */
const slotsOfProject = 2

/** The release of a slot, which works once; undefined: none is free. */
export type ClaimSlot = (projectId: string) => Promise<(() => void) | undefined>

/**
 * Slots as advisory locks of one connection, which is taken from the pool while any is held. A process that
 * ends, or loses the connection, gives its slots back.
 */
export function createSearchSlots(pool: Pool): ClaimSlot {
  let session: Session | undefined
  let turn: Promise<unknown> = Promise.resolve()
  /** One after another: a connection holds a lock as often as it asks for it. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work)
    turn = result.catch(() => undefined)
    return result
  }

  async function claim(projectId: string): Promise<(() => void) | undefined> {
    session ??= await openSession(pool, (lost) => {
      if (session === lost) session = undefined
    })
    const own = session
    const name = await lockFree(own, projectId)
    if (name === undefined) {
      closeIfUnused(own)
      return undefined
    }
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      void inTurn(async () => {
        await unlock(own, name)
        closeIfUnused(own)
      })
    }
  }

  function closeIfUnused(own: Session): void {
    if (own.held.size > 0 || session !== own) return
    session = undefined
    own.close()
  }

  return (projectId) => inTurn(() => claim(projectId))
}

interface Session {
  client: PoolClient
  held: Set<string>
  /** With an error the connection ends, and its locks with it. */
  close(error?: Error): void
}

async function openSession(pool: Pool, onLost: (lost: Session) => void): Promise<Session> {
  const client = await pool.connect()
  const lose = (error: Error) => {
    onLost(session)
    session.close(error)
  }
  let isOpen = true
  const session: Session = {
    client,
    held: new Set(),
    close(error) {
      if (!isOpen) return
      isOpen = false
      client.off('error', lose)
      client.release(error)
      if (error !== undefined) onLost(session)
    },
  }
  client.on('error', lose)
  return session
}

async function lockFree(session: Session, projectId: string): Promise<string | undefined> {
  for (let slot = 0; slot < slotsOfProject; slot++) {
    const name = `search ${projectId} ${slot}`
    if (session.held.has(name)) continue
    if (!(await ask(session, 'pg_try_advisory_lock', name))) continue
    session.held.add(name)
    return name
  }
  return undefined
}

async function unlock(session: Session, name: string): Promise<void> {
  session.held.delete(name)
  // A lost connection holds nothing; a failure here has closed it.
  await ask(session, 'pg_advisory_unlock', name).catch(() => undefined)
}

async function ask(session: Session, lock: string, name: string): Promise<boolean> {
  try {
    const { rows } = await query<{ is_done: boolean }>(
      session.client,
      `select ${lock}(hashtextextended($1, 0)) as is_done`,
      [name],
    )
    return rows[0]?.is_done === true
  } catch (error) {
    session.close(error instanceof Error ? error : new Error(String(error)))
    throw error
  }
}

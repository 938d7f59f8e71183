import type { Pool, QueryResultRow } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import { projectOfKey, type Principal, type SignedIn } from '#http/access/principal.ts'
import { invalidInput, Problem } from '#http/problem.ts'
import { inProjectTransaction } from '#http/access/project-transaction.ts'
import { writeAudit, writeView, type AuditEntry } from './audit-store.ts'
import type { CountedDays } from './counted-days.ts'
import type { WatchStatement } from './watch-statements.ts'

/**
 * The projects of a request, made from the caller alone: no store can be reached with a project that only the
 * request names.
 */
class ProjectScope {
  /** Null: every project, for the operator alone. */
  readonly projectId: string | null
  /** The projects, where `projectId` is null; null again: every project. */
  readonly among: readonly string[] | null

  private constructor(projectId: string | null, among: readonly string[] | null = null) {
    this.projectId = projectId
    this.among = among
  }

  /**
   * One project: the key's own, or the one that the operator names. Throws 403 for another's, 422 when none
   * is named.
   */
  static ofOne(principal: Principal, requested: string | undefined): OneProject {
    const scope = ProjectScope.of(principal, requested)
    if (scope.projectId === null) {
      throw invalidInput([{ path: 'project_id', message: 'is required when the operator asks' }])
    }
    return scope as OneProject
  }

  /** The same; for an operator or administrator who names no project: all of them. */
  static of(principal: Principal, requested: string | undefined): OneOrEvery {
    switch (principal.kind) {
      case 'operator':
        return new ProjectScope(requested ?? null) as OneOrEvery
      case 'key':
        return new ProjectScope(projectOfKey(principal.key, requested).projectId) as OneOrEvery
      case 'person':
        return new ProjectScope(projectOfPerson(principal.person, requested)) as OneOrEvery
      case 'anonymous':
        throw new Problem(401, 'KEY_MISSING', 'send an API key as X-Service-Key or as Authorization: Bearer')
    }
  }

  /** The same; for a user of several projects who names none: all of theirs. */
  static ofAny(principal: Principal, requested: string | undefined): ProjectScope {
    const theirs = principal.kind === 'person' ? (principal.person.projectIds ?? []) : []
    return requested === undefined && theirs.length > 1
      ? new ProjectScope(null, theirs)
      : ProjectScope.of(principal, requested)
  }

  /** The condition on a row of the table `alias`, where `$1` is `value`. */
  condition(alias: string): string {
    if (this.projectId !== null) return `${alias}.project_id = $1`
    return this.among === null ? '$1::uuid is null' : `${alias}.project_id = any ($1::uuid[])`
  }

  get value(): string | string[] | null {
    return this.projectId === null ? (this.among?.map(idToUuid) ?? null) : idToUuid(this.projectId)
  }
}

/** The project that the user names and may see, or the only one; null: all, for users who see all. */
function projectOfPerson({ projectIds }: SignedIn, requested: string | undefined): string | null {
  if (projectIds === null) return requested ?? null
  if (requested !== undefined) {
    if (projectIds.includes(requested)) return requested
    throw new Problem(403, 'OTHER_PROJECT', 'project_id: you do not see this project')
  }
  const [only, ...others] = projectIds
  if (only === undefined) {
    throw new Problem(403, 'NO_PROJECT', 'you see no project yet: ask an administrator')
  }
  if (others.length === 0) return only
  throw invalidInput([{ path: 'project_id', message: 'is required when you see several projects' }])
}

export type OneProject = ProjectScope & { readonly projectId: string }
/** Its value is one id or null. Rows without a project are written with it too. */
export type OneOrEvery = ProjectScope & { readonly among: null }

interface ProjectConnections {
  /** Connections that see one project at a time. */
  pool: Pool
  /** Connections that see every project, for an operator who names none. */
  operatorPool: Pool
  watch: WatchStatement
  countedDays: CountedDays
}

const scopeMarker = /:scope\((\w+)\)/g

/** How long a counted change waits for another one of its project. */
const longestTurnMs = 2_000

/**
 * The only access of a project's routes to Postgres. Every statement marks the tables that it reads by
 * `:scope(alias)`; one without a mark is refused before it is sent. `$1` is the project, further values start
 * at `$2`. Row-level security applies as well, so an incomplete `where` finds no other project's rows.
 */
export class ProjectDatabase<S extends ProjectScope = ProjectScope> {
  readonly #connections: ProjectConnections
  readonly #principal: Principal
  readonly scope: S

  constructor(connections: ProjectConnections, principal: Principal, scope: S) {
    this.#connections = connections
    this.#principal = principal
    this.scope = scope
  }

  /** Of a roll-up: Unix milliseconds up to which days are in the daily one. */
  countedUntil(rollup: string): Promise<number> {
    return this.#connections.countedDays(rollup)
  }

  async query<R extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    const { projectId, value } = this.scope
    const scoped = scopedText(text, this.scope)
    const { pool, operatorPool, watch } = this.#connections
    const result = await watch(scoped, () =>
      projectId === null
        ? query<R>(operatorPool, scoped, [value, ...values])
        : inProjectTransaction(pool, projectId, (client) => query<R>(client, scoped, [value, ...values])),
    )
    return result.rows
  }

  /**
   * A statement that changes rows and returns them, and its audit entry: both or neither. No entry without a
   * returned row. `isCounted`: serialised within the project, so that what the statement counts is still true
   * when it inserts. A change that waits too long holds a shared connection and gets 503 (55P03).
   */
  async change<R extends QueryResultRow>(
    this: ProjectDatabase<OneProject>,
    text: string,
    values: readonly unknown[],
    entry: ProjectEntry,
    nowMs: number,
    isCounted = false,
  ): Promise<R[]> {
    const { projectId, value } = this.scope
    const scoped = scopedText(text, this.scope)
    const { pool, watch } = this.#connections
    return watch(scoped, () =>
      inProjectTransaction(pool, projectId, async (client) => {
        if (isCounted) {
          await client.query(`set local lock_timeout = ${longestTurnMs}`)
          await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [projectId])
        }
        const { rows } = await query<R>(client, scoped, [value, ...values])
        if (rows.length > 0) await writeAudit(client, this.#principal, { ...entry, projectId }, nowMs)
        return rows
      }),
    )
  }

  /** Several statements that belong together, and their audit entries: all or none. */
  async changeTogether<T>(
    this: ProjectDatabase<OneProject>,
    work: (run: RunStatement) => Promise<{ result: T; entries: readonly ProjectEntry[] }>,
    nowMs: number,
  ): Promise<T> {
    const { projectId, value } = this.scope
    const { pool, watch } = this.#connections
    return inProjectTransaction(pool, projectId, async (client) => {
      await client.query(`set local lock_timeout = ${longestTurnMs}`)
      const { result, entries } = await work(
        async <R extends QueryResultRow>(text: string, values: readonly unknown[] = []) => {
          const scoped = scopedText(text, this.scope)
          return (await watch(scoped, () => query<R>(client, scoped, [value, ...values]))).rows
        },
      )
      for (const entry of entries) await writeAudit(client, this.#principal, { ...entry, projectId }, nowMs)
      return result
    })
  }

  /** Logs a change outside of Postgres. */
  async note(this: ProjectDatabase<OneProject>, entry: ProjectEntry, nowMs: number): Promise<void> {
    const { projectId } = this.scope
    await inProjectTransaction(this.#connections.pool, projectId, (client) =>
      writeAudit(client, this.#principal, { ...entry, projectId }, nowMs),
    )
  }

  /**
   * Logs content before it is shown to a user, on the operator's connections: a project's may not read the
   * log.
   */
  async noteView(entry: ProjectEntry, nowMs: number): Promise<void> {
    const { projectId } = this.scope
    await writeView(this.#connections.operatorPool, this.#principal, { ...entry, projectId }, nowMs)
  }
}

/** One statement of a transaction; its marks and values are those of `query`. */
export type RunStatement = <R extends QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<R[]>

/** An audit entry; the project is the database's. */
export type ProjectEntry = Omit<AuditEntry, 'projectId'>

/** A statement's marks, replaced by the condition that `$1` is the row's project. */
export function ofOneProject(text: string): string {
  return text.replaceAll(scopeMarker, (_marker, alias: string) => `${alias}.project_id = $1`)
}

function scopedText(text: string, scope: ProjectScope): string {
  const scoped = text.replaceAll(scopeMarker, (_marker, alias: string) => scope.condition(alias))
  if (scoped === text) throw new Error('a statement on project data has no :scope()')
  return scoped
}

export interface ProjectDatabases {
  /** The key's project, the one that the operator names, or all for an operator who names none. */
  of(principal: Principal, requested: string | undefined): ProjectDatabase<OneOrEvery>
  /**
   * The same; for a user of several projects who names none: all of theirs. For resources that an id alone
   * identifies.
   */
  ofAny(principal: Principal, requested: string | undefined): ProjectDatabase
  /** The same, for exactly one project. */
  ofOne(principal: Principal, requested: string | undefined): ProjectDatabase<OneProject>
}

export function createProjectDatabases(connections: ProjectConnections): ProjectDatabases {
  return {
    of: (principal, requested) =>
      new ProjectDatabase(connections, principal, ProjectScope.of(principal, requested)),
    ofAny: (principal, requested) =>
      new ProjectDatabase(connections, principal, ProjectScope.ofAny(principal, requested)),
    ofOne: (principal, requested) =>
      new ProjectDatabase(connections, principal, ProjectScope.ofOne(principal, requested)),
  }
}

/** Whether the project exists: tells a missing project from a full one after an insert without a row. */
export async function isProject(database: ProjectDatabase<OneProject>): Promise<boolean> {
  return (await database.query('select from subscriptions p where :scope(p)')).length > 0
}

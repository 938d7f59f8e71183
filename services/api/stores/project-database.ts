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
 * Whose data a request may touch. Made only from who asks, so that no store can be reached with a project that came from
 * the request alone.
 */
class ProjectScope {
  /** Null: every project, which only the operator gets. */
  readonly projectId: string | null
  /** Of these, where `projectId` is null: null again for every project. */
  readonly among: readonly string[] | null

  private constructor(projectId: string | null, among: readonly string[] | null = null) {
    this.projectId = projectId
    this.among = among
  }

  /** Of one project: the key's own, or the one that the operator names. Throws 403 for another's, 422 when none is named. */
  static ofOne(principal: Principal, requested: string | undefined): OneProject {
    const scope = ProjectScope.of(principal, requested)
    if (scope.projectId === null) {
      throw invalidInput([{ path: 'project_id', message: 'is required when the operator asks' }])
    }
    return scope as OneProject
  }

  /** The same, except that the operator, or an administrator, who names no project gets all of them. */
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

  /** The same; of somebody who sees several projects and names none, all of theirs at once. */
  static ofAny(principal: Principal, requested: string | undefined): ProjectScope {
    const theirs = principal.kind === 'person' ? (principal.person.projectIds ?? []) : []
    return requested === undefined && theirs.length > 1
      ? new ProjectScope(null, theirs)
      : ProjectScope.of(principal, requested)
  }

  /** What a row of the table `alias` must have, where `$1` is `value`. */
  condition(alias: string): string {
    if (this.projectId !== null) return `${alias}.project_id = $1`
    return this.among === null ? '$1::uuid is null' : `${alias}.project_id = any ($1::uuid[])`
  }

  get value(): string | string[] | null {
    return this.projectId === null ? (this.among?.map(idToUuid) ?? null) : idToUuid(this.projectId)
  }
}

/** The one that they name and see, or the only one that they see; null: all, for whom sees all. */
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
/** Its value is one identifier, or null: what belongs to no project is written by it, too. */
export type OneOrEvery = ProjectScope & { readonly among: null }

interface ProjectConnections {
  /** Connections that see the rows of one project at a time. */
  pool: Pool
  /** Connections that see every project: for the operator who names none. */
  operatorPool: Pool
  watch: WatchStatement
  countedDays: CountedDays
}

const scopeMarker = /:scope\((\w+)\)/g

/** That what a project adds waits for what else it adds. */
const longestTurnMs = 2_000

/**
 * The only way from a project's routes to Postgres. Every statement says with `:scope(alias)` which tables it reads; a
 * statement that forgets is refused before it is sent. `$1` is the project, further values start at `$2`. Under it row-level security shows
 * each statement the project's rows alone, so that one which forgets part of its `where` finds nothing of others.
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

  /** Of a roll-up: Unix milliseconds before which days are counted by the day. */
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
   * A statement that changes something and returns what it changed, and what is written down of it: both, or neither. Where nothing comes
   * back nothing was changed, and nothing is written down. `isCounted`: one after the other within a project, so that what the statement counts
   * before it adds to it is so still when it does. Whoever waits for long has a connection that all projects share: 503 (55P03).
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

  /** Writes down what is done outside of Postgres. */
  async note(this: ProjectDatabase<OneProject>, entry: ProjectEntry, nowMs: number): Promise<void> {
    const { projectId } = this.scope
    await inProjectTransaction(this.#connections.pool, projectId, (client) =>
      writeAudit(client, this.#principal, { ...entry, projectId }, nowMs),
    )
  }

  /** Writes down what a person is about to be shown. On the operator's connections: no project's may read the log. */
  async noteView(entry: ProjectEntry, nowMs: number): Promise<void> {
    const { projectId } = this.scope
    await writeView(this.#connections.operatorPool, this.#principal, { ...entry, projectId }, nowMs)
  }
}

/** What is written down; the project is the database's. */
type ProjectEntry = Omit<AuditEntry, 'projectId'>

function scopedText(text: string, scope: ProjectScope): string {
  const scoped = text.replaceAll(scopeMarker, (_marker, alias: string) => scope.condition(alias))
  if (scoped === text) throw new Error('a statement on project data has no :scope()')
  return scoped
}

export interface ProjectDatabases {
  /** Of the key's project, of the one that the operator names, or of all for the operator who names none. */
  of(principal: Principal, requested: string | undefined): ProjectDatabase<OneOrEvery>
  /** The same; of somebody who sees several projects and names none, all of theirs. For what an identifier alone leads to. */
  ofAny(principal: Principal, requested: string | undefined): ProjectDatabase
  /** The same, of exactly one project. */
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

/** Whether the project exists: asked when an insert added no row, to tell a missing project from a full one. */
export async function isProject(database: ProjectDatabase<OneProject>): Promise<boolean> {
  return (await database.query('select from subscriptions p where :scope(p)')).length > 0
}

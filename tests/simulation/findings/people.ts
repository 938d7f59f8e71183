import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { findingStates } from '#schemas/event-data.ts'
import { changeFindings, ownersBefore, undoChange } from '#services/api/stores/change-findings.ts'
import { seededId } from '../parts/load.ts'
import { createSimProjectDatabase } from './api-statements.ts'
import type { FindingContext } from './finding-context.ts'
import type { Asked, ExpectedFinding } from './expected-findings.ts'

/** Changes of one request, as they are expected. */
interface Made {
  changeId: string
  before: Map<string, ExpectedFinding>
  /** The revision that the change made. */
  revisions: Map<string, number>
}

const hourMs = 3_600_000

/** People who change findings, several at once too, and take it back, with the real store of the API. */
export function createPeople(context: FindingContext) {
  const { random, tables, expected, projectId, failures } = context
  const { database, entries } = createSimProjectDatabase(tables, projectId)
  const owners = [1, 2].map(() => seededId({ random }, 'person', context.nowMs))
  let active = owners
  const log: Made[] = []
  const optionsOf = (changeId: string) => ({
    ...{ changeId, by: { kind: 'person', name: 'ana' } as const, nowMs: context.nowMs, dashboardUrl: '' },
  })
  const newChange = () => seededId({ random }, 'findingChange', context.nowMs)
  const expectSame = (what: string, is: unknown, wanted: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(wanted))
      failures.push(`${what}: ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`)
  }

  /** Applies what is expected, and remembers it for an undo. */
  function record(changeId: string, ids: readonly string[], apply: (known: ExpectedFinding) => void): void {
    const one: Made = { changeId, before: new Map(), revisions: new Map() }
    for (const id of ids) {
      const known = expected.all.get(id) as ExpectedFinding
      const before = { ...known }
      apply(known)
      if (known.revision === before.revision) continue
      one.before.set(id, before)
      one.revisions.set(id, known.revision)
    }
    log.push(one)
    expectSame('audited', entries.splice(0).toSorted(), [...one.before.keys()].toSorted())
  }

  function ask(): Asked {
    const ownerId = random.pick([null, ...active])
    const owner = ownerId === null ? null : idToUuid(ownerId)
    if (random.chance(0.2)) return { ownerId: owner }
    const state = random.pick(findingStates)
    const until = state === 'muted' ? { mutedUntilMs: context.nowMs + random.below(2 * hourMs) + 1 } : {}
    return { state, ...until, ...(random.chance(0.3) && { ownerId: owner }) }
  }

  async function change(): Promise<void> {
    // In their order: the events of one request come in it.
    const ids = [...expected.all.keys()].filter(() => random.chance(0.4)).toSorted()
    if (ids.length === 0) return
    const unknown = idToUuid(seededId({ random }, 'finding', context.nowMs))
    const asked = ask()
    const until = asked.mutedUntilMs === undefined ? null : new Date(asked.mutedUntilMs)
    const { ownerId } = asked
    const changeId = newChange()
    const named = [...ids, unknown].map((id) => idFromUuid('finding', id))
    const { done, skipped } = await changeFindings(
      database,
      named,
      {
        ...(asked.state !== undefined && { state: asked.state, muted_until: until }),
        ...(ownerId !== undefined && { owner_id: ownerId, owner_login: ownerId === null ? null : 'login' }),
      },
      optionsOf(changeId),
    )
    const allowed = ids.filter((id) => expected.allows(id, asked))
    expectSame('changed', done.map(idToUuid), allowed)
    expectSame('skipped', skipped.length, named.length - allowed.length)
    record(changeId, allowed, ({ id }) => expected.change(id, asked))
  }

  async function undo(): Promise<void> {
    if (log.length === 0) return
    const { changeId: undone, before, revisions } = random.pick(log)
    const changeId = newChange()
    const known = await ownersBefore(database, undone)
    const logins = new Map(known.filter((id) => active.includes(id)).map((id) => [id, 'login']))
    const result = await undoChange(database, undone, logins, optionsOf(changeId))
    if (result === undefined) {
      expectSame('nothing to undo', before.size, 0)
      return
    }
    const free = [...before.keys()]
      .filter((id) => expected.all.get(id)?.revision === revisions.get(id))
      .toSorted()
    expectSame('undone', result.done.map(idToUuid), free)
    const gone = (id: string) => !active.map(idToUuid).includes(id)
    const lost: string[] = []
    record(changeId, free, (finding) => {
      const { state, mutedUntilMs, ownerId } = before.get(finding.id) as ExpectedFinding
      const isLost = ownerId !== null && ownerId !== finding.ownerId && gone(ownerId)
      if (isLost) lost.push(finding.id)
      expected.put(finding, { ...finding, state, mutedUntilMs, ownerId: isLost ? null : ownerId })
    })
    expectSame('without owner', result.withoutOwner.map(idToUuid), lost)
  }

  /** One of the owners is disabled, or both may own findings again. */
  function changeOwners(): Promise<void> {
    active = active.length === 2 ? [random.pick(owners)] : owners
    return Promise.resolve()
  }

  return { change, undo, changeOwners }
}

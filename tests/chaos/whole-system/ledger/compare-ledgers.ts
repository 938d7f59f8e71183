import type { Found, FoundProject, ProjectName } from './found.ts'

/** A guarantee of the system, and whether it held. */
export interface Finding {
  invariant: string
  /** Number of things checked: an invariant over nothing proves nothing. */
  checked: number
  /** One entry per violation. */
  wrong: readonly string[]
}

const attemptsOfADelivery = 4

/** Compares what clients know with what is stored, scored and delivered. */
export function compareLedgers(found: Found): Finding[] {
  return [
    ...compareCalls(found),
    ...found.projects.map((project) => compareQuota(found, project)),
    compareScores(found),
    compareVerdicts(found),
    finding('roll-ups equal a recount', found.rollups, ({ isRight, project, table, rows }) =>
      isRight || rows === 0 ? [] : [`${table} of ${project}`],
    ),
    compareSets('each failing score has raised its event once', found.unsafeScores, found.threatEvents),
    compareSets(
      'each event has one delivery for each webhook',
      found.deliveriesExpected,
      found.deliveriesMade,
    ),
    ...compareDeliveries(found),
    finding(
      'bodies are there, except of who keeps none',
      found.projects,
      ({ name, withBodies, keepsContent }) => {
        const expected = keepsContent ? storedOf(found, name).length : 0
        return withBodies === expected ? [] : [`${name}: ${withBodies} of ${expected}`]
      },
    ),
    finding('no row without what it belongs to', Object.entries(found.orphans), ([what, count]) =>
      count === 0 ? [] : [`${count} ${what}`],
    ),
    finding('nothing is stuck or left over', Object.entries(found.leftOver), ([what, count]) =>
      count === 0 ? [] : [`${count} ${what}`],
    ),
  ]
}

function finding<T>(invariant: string, checked: readonly T[], wrongOf: (thing: T) => string[]): Finding {
  return { invariant, checked: checked.length, wrong: checked.flatMap(wrongOf) }
}

function storedOf({ stored }: Found, project: ProjectName): string[] {
  return stored.filter((row) => row.project === project).map(({ id }) => id)
}

function compareCalls(found: Found): Finding[] {
  const { calls, stored } = found
  const ids = new Set(stored.map(({ id }) => id))
  const known = new Set(calls.map(({ id }) => id))
  const taken = calls.filter(({ end }) => end === 'taken')
  return [
    compareTaken(found, ids),
    finding('no call is stored twice', [...Map.groupBy(stored, ({ id }) => id)], ([id, rows]) =>
      rows.length === 1 ? [] : [`${id}: ${rows.length} rows`],
    ),
    finding(
      'what is refused is not stored',
      calls.filter(({ end }) => end === 'refused'),
      ({ id }) => (ids.has(id) ? [id] : []),
    ),
    finding('nothing is stored that nobody sent', stored, ({ id }) => (known.has(id) ? [] : [id])),
    finding(
      'who may ask again is answered in the end',
      calls.filter(({ way }) => way === 'direct'),
      ({ id, end }) => (end === 'unknown' ? [id] : []),
    ),
    {
      invariant: 'clients were answered, and as they may be',
      checked: calls.length,
      wrong: taken.length > 0 ? found.problems : ['none was taken', ...found.problems],
    },
  ]
}

/** At most what a gateway counts as lost may be missing, and it counts nothing that is stored. */
function compareTaken({ calls, lost }: Found, stored: ReadonlySet<string>): Finding {
  const missing = calls.filter(({ id }) => !stored.has(id))
  const taken = missing.filter(({ end }) => end === 'taken')
  const mayBeLost = taken.filter(({ way }) => way === 'gateway')
  const unknown = missing.filter(({ end, way }) => end === 'unknown' && way === 'gateway')
  const wrong = taken.filter(({ way }) => way === 'direct').map(({ id }) => id)
  if (mayBeLost.length > lost)
    wrong.push(...mayBeLost.slice(lost).map(({ id }) => `${id} (gateway; ${lost} are counted as lost)`))
  if (lost > mayBeLost.length + unknown.length)
    wrong.push(`${lost} are counted as lost, and only ${mayBeLost.length + unknown.length} are missing`)
  return {
    invariant: 'every answered call is stored',
    checked: calls.filter(({ end }) => end === 'taken').length,
    wrong,
  }
}

function compareQuota(found: Found, { name, quota, counter, usageEvents }: FoundProject): Finding {
  const calls = found.calls.filter(({ project }) => project === name)
  const stored = storedOf(found, name).length
  const wrong: string[] = []
  if (quota === null) {
    if (counter !== stored) wrong.push(`${counter} are counted and ${stored} stored`)
    if (usageEvents !== 0) wrong.push(`${usageEvents} alerts without a limit`)
  } else {
    const room = quota.limit - quota.usedBefore
    const taken = calls.filter(({ end }) => end === 'taken').length
    const refused = calls.filter(({ end }) => end === 'refused').length
    if (taken > room) wrong.push(`${taken} were taken where ${room} fit`)
    if (refused > 0 && taken < room)
      wrong.push(`${refused} were refused though only ${taken} of ${room} were taken`)
    if (counter !== quota.usedBefore + taken)
      wrong.push(`${counter} are counted, not ${quota.usedBefore + taken}`)
    if (usageEvents !== (refused > 0 ? 1 : 0)) wrong.push(`${usageEvents} alerts for ${refused} refused`)
  }
  return { invariant: `the quota is exact (${name})`, checked: calls.length, wrong }
}

function compareScores(found: Found): Finding {
  const wrong = found.projects.flatMap(({ name, scorers }) => {
    const sets = found.scorerSets.filter(({ project }) => project === name)
    const calls = sets.reduce((sum, set) => sum + set.calls, 0)
    const stored = storedOf(found, name).length
    const odd = sets.filter((set) => set.scorers !== scorers.join())
    return [
      ...(calls === stored ? [] : [`${calls} of ${stored} calls of ${name} are scored`]),
      ...odd.map((set) => `${set.calls} calls of ${name} are scored by ${set.scorers}`),
    ]
  })
  const checked = found.scorerSets.reduce(
    (sum, { scorers, calls }) => sum + scorers.split(',').length * calls,
    0,
  )
  return { invariant: 'each scorer has scored each call once', checked, wrong }
}

/**
 * Calls whose verdict the client knows in advance. A wrong verdict with a matching event would look
 * consistent otherwise.
 */
function compareVerdicts({ calls, stored, unsafeScores }: Found): Finding {
  const ids = new Set(stored.map(({ id }) => id))
  const scorersAgainst = Map.groupBy(unsafeScores, (failure) => failure.slice(0, failure.indexOf('/')))
  const known = calls.filter(({ id, content }) => content !== null && ids.has(id))
  return finding('calls whose verdict is known have it', known, ({ id, content }) => {
    const failing = scorersAgainst.get(id) ?? []
    const isRight = content === 'card' ? failing.includes(`${id}/pii_detection`) : failing.length === 0
    return isRight ? [] : [`${id} (${content}): ${failing.join(' ') || 'nothing'} is unsafe`]
  })
}

/**
 * Each of `expected` exactly once, and nothing else. Counts alone would hide a missing one behind a
 * duplicate.
 */
function compareSets(invariant: string, expected: readonly string[], actual: readonly string[]): Finding {
  const counts = new Map(expected.map((name) => [name, 0]))
  for (const name of actual) counts.set(name, (counts.get(name) ?? 0) + 1)
  const wanted = new Set(expected)
  const wrong = [...counts].flatMap(([name, count]) => {
    if (!wanted.has(name)) return [`${name} is unexpected`]
    return count === 1 ? [] : [`${name}: ${count}`]
  })
  return { invariant, checked: expected.length, wrong }
}

function compareDeliveries({ deliveries, receipts }: Found): Finding[] {
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
  const receiptOf = new Map(receipts.map((receipt) => [receipt.deliveryId, receipt]))
  return [
    finding('each delivery was taken by its receiver, or failed four times', deliveries, (delivery) => {
      const { id, receiver, status, attempts } = delivery
      const taken = receiptOf.get(id)?.taken ?? 0
      if (status === 'delivered') return taken > 0 ? [] : [`${id} counts as delivered and was not taken`]
      if (status !== 'failed') return [`${id} is ${status}`]
      return attempts === attemptsOfADelivery ? [] : [`${id} (${receiver}) failed after ${attempts} attempts`]
    }),
    finding(
      'a receiver that always answers has had every delivery',
      deliveries.filter(({ receiver }) => receiver === 'steady'),
      ({ id }) => ((receiptOf.get(id)?.taken ?? 0) > 0 ? [] : [id]),
    ),
    finding('nothing was sent that is no delivery', receipts, ({ deliveryId, receiver }) =>
      byId.get(deliveryId)?.receiver === receiver ? [] : [deliveryId],
    ),
  ]
}

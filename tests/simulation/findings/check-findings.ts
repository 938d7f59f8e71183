import { erasedCall } from '#schemas/finding.ts'
import type { ExpectedFindings } from './expected-findings.ts'
import { hashesOf, type ChangeRow, type FindingTables } from './finding-tables.ts'

/** Compares the tables with a recount and with the documented state machine. Returns the problems. */
export function checkFindings(
  tables: FindingTables,
  expected: ExpectedFindings,
  liveRunUuid: string,
): string[] {
  const wrong: string[] = []
  const compare = (what: string, is: unknown, wanted: unknown) => {
    const [one, other] = [JSON.stringify(is), JSON.stringify(wanted)]
    if (one !== other) wrong.push(`${what} is ${one}, not ${other}`)
  }
  compare('the findings', [...tables.findings.keys()].sort(), [...expected.all.keys()].sort())
  for (const [id, { finding_id: is }] of tables.scores)
    compare(`the finding of the score ${id}`, is, expected.ofScore.get(id) ?? null)
  for (const finding of expected.all.values()) {
    const { id, state, mutedUntilMs, severity, ownerId, revision, erased } = finding
    const row = tables.findings.get(id)
    if (row === undefined) continue
    const is = [row.state, row.muted_until?.getTime() ?? null, row.severity, row.owner_id, row.revision]
    compare(id, is, [state, mutedUntilMs, severity, ownerId, revision])
    const live = tables.liveScoresOf(id, liveRunUuid)
    const counters = tables.countersOf(id)
    compare(
      `the count of ${id}`,
      counters.reduce((sum, { count }) => sum + count, 0),
      live.length + erased,
    )
    const kept = [...tables.values.values()].filter(({ finding_id: of }) => of === id)
    const hashes = kept.map(({ hash }) => hash)
    compare(`the values of ${id}`, [...new Set(hashes)].sort(), [...new Set(live.flatMap(hashesOf))].sort())
    const requests = live.map(({ placed }) => placed.requestUuid)
    for (const { last_request_id: last } of kept)
      if (!requests.includes(last)) wrong.push(`a value of ${id} is kept for ${last}, which is not live`)
    const [first, last] = [requests.toSorted()[0], requests.toSorted().at(-1)]
    for (const { first_request_id, last_request_id } of counters)
      for (const named of [first_request_id, last_request_id])
        if (named !== erasedCall && !tables.calls.has(named))
          wrong.push(`${id} names the erased call ${named}`)
    const firsts = counters.map((counter) => counter.first_request_id).sort()
    const lasts = counters.map((counter) => counter.last_request_id).sort()
    if (first !== undefined && (firsts[0] as string) > first) wrong.push(`${id} begins after its first call`)
    if (last !== undefined && (lasts.at(-1) as string) < last) wrong.push(`${id} ends before its last call`)
    wrong.push(...checkHistory(tables, id, revision))
  }
  const told = [...tables.events.values()].map(
    ({ event, data }) => `${event} ${String(data['state'])} ${String(data['previous_state'])}`,
  )
  const shortOf = (line: string) => {
    const [event, , , state, previous] = line.split(' ')
    return `${event} ${state} ${previous}`
  }
  compare('the events', told, expected.events.map(shortOf))
  return wrong
}

/** Each revision has one change, which begins where the one before it ended. */
function checkHistory({ changes, findings }: FindingTables, id: string, revision: number): string[] {
  const history = Array.from({ length: revision }, (_, index) => changes.get(`${id}/${index + 1}`))
  if (history.includes(undefined)) return [`the history of ${id} has a gap below ${revision}`]
  const textOf = (one: ChangeRow['before'] | undefined) =>
    JSON.stringify([one?.state, one?.muted_until == null ? null : Date.parse(one.muted_until), one?.owner_id])
  const row = findings.get(id)
  const now = JSON.stringify([row?.state, row?.muted_until?.getTime() ?? null, row?.owner_id])
  const broken = history.filter((change, index) => {
    const next = history[index + 1]
    return textOf(change?.after) !== (next === undefined ? now : textOf(next.before))
  })
  return broken.map((change) => `revision ${change?.revision} of ${id} does not lead to the next`)
}

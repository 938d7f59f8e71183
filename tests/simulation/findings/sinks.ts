import { liveRunId, scoreId } from '#schemas/ids.ts'
import type { FoundValue } from '#schemas/safety-score-recorded.ts'
import { createFindingStore } from '#services/sink/stores/finding-store.ts'
import { placeScores, type PlacedScore } from '#services/sink/steps/place-score.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { seededId } from '../parts/load.ts'
import { createSimClient, maxFindings, type FindingContext } from './finding-context.ts'
import { Aborted } from './finding-tables.ts'

const lanes = 3
/** Ends a transaction after its last statement. */
const atCommit = Symbol('at commit')

/** Sinks of three partitions, with the real finding store. A batch may come again, longer or shorter. */
export function createSinks(context: FindingContext) {
  const { random, tables, expected, liveRunUuid } = context
  const logs = many(lanes, () => ({ records: [] as PlacedScore[][], offset: 0 }))
  const store = createFindingStore({ now: () => context.nowMs, maxPerProject: maxFindings })

  async function deliver(): Promise<void> {
    const lane = random.below(lanes)
    const log = logs[lane] as (typeof logs)[number]
    while (log.records.length < log.offset + 4) log.records.push(makeRecord(context))
    if (random.chance(0.1)) log.offset = random.below(log.offset + 1)
    const count = 1 + random.below(4)
    const batch = log.records.slice(log.offset, log.offset + count).flat()
    const end = random.pick(['stored', 'stored', 'stored', 'broken', 'refused', 'unanswered'] as const)
    const abortAt = end === 'broken' ? random.below(8) : end === 'refused' ? atCommit : Infinity
    try {
      await store1(batch, lane, abortAt)
    } catch (error) {
      if (error instanceof Aborted) return
      throw error
    }
    // Without an answer the sink does not know, and takes the batch again.
    if (end !== 'unanswered') log.offset += count
  }

  /** One transaction, as score-store.ts makes it. */
  async function store1(
    batch: readonly PlacedScore[],
    lane: number,
    abortAt: number | typeof atCommit,
  ): Promise<void> {
    const client = createSimClient(tables, abortAt === atCommit ? Infinity : abortAt)
    const places = expected.placesOf(batch, liveRunUuid)
    const added = await tables.transact(async () => {
      const assigned = (await store.assign(client, batch)).scores
      const fresh = assigned.filter(({ scoreUuid, requestUuid }) => {
        return tables.calls.has(requestUuid) && !tables.scores.has(scoreUuid)
      })
      const once = firstsOf(fresh)
      for (const placed of once)
        tables.scores.set(placed.scoreUuid, {
          ...{ placed, run_id: placed.runUuid, finding_id: placed.findingUuid },
        })
      const counted = await store.count(client, once, lane)
      for (const { id, event, data } of counted.events) tables.addEvent(id, event, data)
      if (abortAt === atCommit) throw new Aborted('the commit was refused')
      return counted.added
    })
    const decisive = new Set(firstsOf(batch))
    checkAdded(added, new Map([...places].filter(([placed]) => decisive.has(placed))))
  }

  /** Applies the added scores to the expected findings, and checks the events of each. */
  function checkAdded(added: readonly PlacedScore[], places: ReadonlyMap<PlacedScore, string>): void {
    const known = new Set(expected.all.keys())
    const byScore = new Map([...places].map(([{ scoreUuid }, id]) => [scoreUuid, id]))
    const live = added.filter(({ runUuid }) => runUuid === liveRunUuid)
    for (const placed of added) {
      const id = byScore.get(placed.scoreUuid)
      if (id !== undefined) expected.ofScore.set(placed.scoreUuid, id)
    }
    const opened = live
      .flatMap((placed) => ({ placed, id: byScore.get(placed.scoreUuid) }))
      .filter((each): each is { placed: PlacedScore; id: string } => each.id !== undefined)
    for (const [id, ofOne] of [...Map.groupBy(opened, ({ id: of }) => of)].sort(([a], [b]) =>
      a < b ? -1 : 1,
    ))
      for (const [index, { placed }] of ofOne.entries()) {
        expected.add(placed, id, context.nowMs)
        const isFirst = placed.finding?.isFirst
        if (isFirst !== (index === 0 && !known.has(id)))
          context.failures.push(`${placed.scoreUuid} was told as ${isFirst} first of ${id}`)
      }
    for (const { finding, scoreUuid } of added) {
      const id = byScore.get(scoreUuid)
      if (id === undefined && finding !== null) context.failures.push(`${scoreUuid} was told a finding`)
    }
  }

  return { deliver }
}

/** Of records of one score the first is stored. */
function firstsOf(scores: readonly PlacedScore[]): PlacedScore[] {
  const known = new Set<string>()
  return scores.filter(({ scoreUuid }) => !known.has(scoreUuid) && known.add(scoreUuid))
}

/** The scores of one call: of the live run or of another one, some safe, suppressed or of a red team. */
function makeRecord(context: FindingContext): PlacedScore[] {
  const { random, projectId, runId, tables, nowMs } = context
  const isReplay = tables.calls.size > 0 && random.chance(0.2)
  const call = isReplay ? random.pick(callsOf(context)) : makeCall(context, nowMs)
  const run_id = isReplay ? runId : liveRunId(projectId)
  const scorers = random.chance(0.5) ? ['pii_detection'] : ['pii_detection', 'toxicity']
  const scores = scorers.map((scorer_name) => {
    const isUnsafe = random.chance(0.85)
    const severity = random.pick(['medium', 'high', 'critical'] as const)
    return sampleScore(projectId, call.id, {
      ...{ id: scoreId(projectId, call.id, scorer_name, run_id), scorer_name },
      ...(isUnsafe ? { severity } : { score_label: 'safe', severity: null }),
      found_values: isUnsafe ? many(random.below(3), () => makeValue(context)) : null,
    })
  })
  const placed = placeScores(sampleScoredCall(call, { run_id, scores }))
  return random.chance(0.1) ? placed.map((each) => ({ ...each, suppressions: ['rule'] })) : placed
}

function makeCall(context: FindingContext, nowMs: number) {
  const { random, projectId, tables } = context
  const call = sampleCall(projectId, {
    ...{ id: seededId({ random }, 'request', nowMs - random.below(60_000)), received_at: nowMs },
    ...{ agent_name: random.pick(['a', 'b', null]), source: random.chance(0.1) ? 'redteam' : 'gateway' },
  })
  const [placed] = placeScores(sampleScoredCall(call))
  if (placed === undefined) throw new Error('no score')
  tables.calls.add(placed.requestUuid)
  callsOf(context).push(call)
  return call
}

const made = new WeakMap<FindingContext, ReturnType<typeof sampleCall>[]>()

function callsOf(context: FindingContext) {
  const known = made.get(context) ?? []
  made.set(context, known)
  return known
}

function makeValue({ random }: FindingContext): FoundValue {
  const hash = random.chance(0.9) ? Buffer.alloc(16, random.below(4)) : null
  return { kind: random.pick(['email', 'iban']), tool: random.chance(0.2) ? 'mail' : null, hash }
}

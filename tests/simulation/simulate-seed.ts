import type { Service } from '#runtime/service.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { checkEnd } from './checks/check-end.ts'
import { TopicIndex } from './checks/topic-index.ts'
import { watchOffsets } from './checks/watch-offsets.ts'
import { playFindings } from './findings/play-findings.ts'
import { answering, createSimIngest, sendCall, type ClientCall } from './parts/clients.ts'
import { createServiceContext, type SimContext } from './parts/context.ts'
import { makeCalls, makeProjects, quotaLimit, sendHostileRecords } from './parts/load.ts'
import { startSimNotifier } from './parts/notifiers.ts'
import { createReceivers } from './parts/receivers.ts'
import { startSimScorer } from './parts/scorers.ts'
import { startSimSink } from './parts/sinks.ts'
import { Database } from './tables/database.ts'
import { Cluster } from './world/cluster.ts'
import { keepRunning, type Kept } from './world/keep-running.ts'
import { takeTimeFrom } from './world/virtual-time.ts'
import { beginningMs, World } from './world/world.ts'

export interface SeedResult {
  /** Problems; empty if none. */
  failures: readonly string[]
  happened: number
  history: readonly string[]
  /** Counts that show whether the seed exercised anything. */
  did: {
    stored: number
    scored: number
    delivered: number
    together: number
    deaths: number
    letters: number
    /** Findings, their changes of state, and scores that they counted. */
    findings: number
    standings: number
    counted: number
  }
}

/** Faults occur within this time; afterwards everything must finish. */
const faultsMs = 15_000
const timeoutMs = 400_000
const retryDelaysMs = [1_000, 2_000, 4_000]

/** Plays one history and checks the invariants. */
export async function simulateSeed(seed: number, isVerbose = false): Promise<SeedResult> {
  const world = new World(seed, isVerbose)
  takeTimeFrom(world)
  try {
    const played = await play(world)
    const findings = await playFindings(seed, (line) => world.note(() => line))
    return {
      failures: [...played.failures, ...findings.failures],
      happened: played.happened,
      history: played.history,
      did: { ...played.did, ...findings.did },
    }
  } finally {
    takeTimeFrom(null)
  }
}

type Played = Omit<SeedResult, 'did'> & { did: Omit<SeedResult['did'], 'findings' | 'standings' | 'counted'> }

async function play(world: World): Promise<Played> {
  const failures = new Set<string>()
  const fail = (what: string) => {
    world.note(() => `WRONG: ${what}`)
    failures.add(what)
  }
  const cluster = new Cluster(world, 2)
  const database = new Database(world)
  const index = new TopicIndex()
  const context = createServiceContext(world, cluster, database)
  watchOffsets(cluster, database, index, fail)
  const receivers = createReceivers(world)
  database.onClaimed = (delivery) => {
    const what = checkDelay(database, delivery)
    if (what !== undefined) fail(what)
  }
  const projects = makeProjects(context)
  const isBurst = world.random.chance(0.5)
  const calls = makeCalls(context, projects, isBurst)
  const { kept, ingests } = startProcesses(context, receivers)
  planLoad(context, calls, ingests, { projectId: projects.open.project.projectId, isBurst })
  planFaults(world, kept)
  await world.run(() => world.nowMs >= beginningMs + faultsMs, beginningMs + faultsMs)
  world.nowMs = beginningMs + faultsMs
  world.faults.isOver = true
  // Checked at intervals: it scans all state.
  const isOver = () => world.happened % 16 === 0 && isQuiet(cluster, database, calls)
  if (!(await world.run(isOver, world.nowMs + timeoutMs))) fail(`it does not finish: ${whatIsLeft(cluster)}`)
  const { losses, faults } = world
  const { stops, restarts } = faults.rates
  const notifiers = kept.filter(({ name }) => name.startsWith('notifier')).length
  const isUndisturbed = losses + stops + restarts === 0 && notifiers === 1
  const { receipts } = receivers
  for (const what of checkEnd({ calls, database, index, receipts, losses, isUndisturbed })) fail(what)
  return {
    failures: [...failures],
    happened: world.happened,
    history: world.history,
    did: {
      stored: database.calls.size,
      scored: database.scores.size,
      delivered: [...database.deliveries.values()].filter(({ status }) => status === 'delivered').length,
      together: database.begunTogether,
      deaths: faults.deaths,
      letters: index.letters.size,
    },
  }
}

/** Two processes that take calls, and one or two of each consumer. */
function startProcesses(context: SimContext, receivers: ReturnType<typeof createReceivers>) {
  const { world } = context
  const ingests = [1, 2].map((number) => {
    let logCalls = createSimIngest(context, quotaLimit)
    const kept = keepRunning(world, `ingest-${number}`, () => {
      logCalls = createSimIngest(context, quotaLimit)
      return answering()
    })
    return { kept, logCalls: () => logCalls }
  })
  const oneOrTwo = (name: string, start: () => Service) =>
    (world.random.chance(0.5) ? ['1'] : ['1', '2']).map((number) =>
      keepRunning(world, `${name}-${number}`, start),
    )
  const consumers = [
    ...oneOrTwo('sink', () => startSimSink(context)),
    ...oneOrTwo('scorer', () => startSimScorer(context)),
    ...oneOrTwo('notifier', () => startSimNotifier(context, receivers)),
  ]
  return { ingests, kept: [...ingests.map(({ kept }) => kept), ...consumers] }
}

/**
 * Calls within eight seconds, or in a burst of a fifth of one. Some are sent again by clients that forgot the
 * answer.
 */
function planLoad(
  context: SimContext,
  calls: readonly ClientCall[],
  ingests: ReturnType<typeof startProcesses>['ingests'],
  { projectId, isBurst }: { projectId: string; isBurst: boolean },
): void {
  const { world } = context
  const { random } = world
  const burstMs = random.between(0, 8_000)
  for (const call of calls) {
    const atMs = isBurst ? burstMs + random.between(0, 200) : random.between(0, 8_000)
    world.after(atMs, () => sendCall(world, call, ingests), null)
    if (random.chance(0.3))
      world.after(atMs + random.between(0, 5_000), () => sendCall(world, call, ingests), null)
  }
  world.after(random.between(0, 8_000), () => sendHostileRecords(context, projectId), null)
}

function planFaults(world: World, kept: readonly Kept[]): void {
  const { random, faults } = world
  const { stops, restarts, outages } = faults.rates
  const someTimes = (times: number, happen: () => void) => {
    for (let time = 0; time < times; time++) world.after(random.between(500, faultsMs), happen, null)
  }
  someTimes(stops, () => {
    const { process } = random.pick(kept)
    process.stoppedUntilMs = world.nowMs + random.between(500, random.pick([3_000, 12_000, 20_000]))
    world.note(() => `SIGSTOP ${process.name} until ${(process.stoppedUntilMs - beginningMs) / 1_000}`)
  })
  someTimes(restarts, () => random.pick(kept).restart())
  someTimes(outages, () =>
    faults.takeAway(random.pick(['postgres', 'kafka', 'registry'] as const), random.between(300, 6_000)),
  )
}

/** A retry never comes earlier after the failure than its delay. */
function checkDelay({ deliveries, world }: Database, delivery: WebhookDelivery): string | undefined {
  const { delivery_id: id, attempt } = delivery
  const failedMs = deliveries.get(id)?.attempts.get(attempt - 1)?.firstFailedMs
  const delayMs = retryDelaysMs[attempt - 2]
  if (attempt === 1 || delayMs === undefined) return undefined
  if (failedMs === undefined) return `${id} is tried again and has not failed`
  if (world.nowMs - failedMs >= delayMs) return undefined
  return `${id} was tried again sooner than ${delayMs} ms after it failed`
}

/**
 * Listed explicitly: a group that has not joined yet, because its process was stopped at its start, still has
 * all its work to do.
 */
const consumerGroups =
  'sink-calls sink-scores scorer scorer-large notifier-fan-out notifier-due notifier-retry'.split(' ')

function lagOf(cluster: Cluster): string[] {
  const absent = consumerGroups.filter((id) => cluster.group(id).topics.size === 0)
  return [
    ...absent.map((id) => `${id} has not joined`),
    ...cluster.groups.flatMap((group) =>
      [...group.topics].flatMap((topic) =>
        cluster.logsOf(topic).flatMap((log, partition) => {
          const committed = group.committed({ topic, partition })
          const isThrough = log.length === 0 || committed?.offset === BigInt(log.length)
          return isThrough
            ? []
            : [`${group.id} ${topic}/${partition} at ${committed?.offset} of ${log.length}`]
        }),
      ),
    ),
  ]
}

function isQuiet(cluster: Cluster, database: Database, calls: readonly ClientCall[]): boolean {
  return (
    calls.every(({ end }) => end !== 'none') &&
    database.waiting.size === 0 &&
    ![...database.outbox.values()].some(({ isPublished }) => !isPublished) &&
    lagOf(cluster).length === 0
  )
}

function whatIsLeft(cluster: Cluster): string {
  return lagOf(cluster).join(', ')
}

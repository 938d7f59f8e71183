import { ratio } from './benchmark.ts'
import { createBareSender, prepareBarePost, type BarePost } from './bare-deliveries.ts'
import type { Receipts } from './counting-receiver.ts'
import { createCpuMeter, mapParts, type CpuMeter, type CpuParts } from './cpu-parts.ts'
import { eventsFor, raiseAll, untilReceived, type Side } from './delivery-targets.ts'
import { median } from './quantile.ts'
import { until } from './until.ts'

/**
 * Deliveries until the JIT has settled: bare posts rise from 11,000/s to 18,000/s, a notifier's CPU falls
 * from 173 to 140 µs.
 */
const warmingDeliveries = 100_000
/** Two rounds of one program differ by 10 to 33 % on a shared machine. */
const rounds = 7
/**
 * Concurrency of bare posts. `asMany`: the notifier's permits, all of which it uses under load (the receiver
 * counts a thousand connections). `few`: undici's cheapest where answers come at once (18 to 24 µs a post,
 * 36 to 54 with a thousand).
 */
const bareConcurrency = { asMany: 1_024, few: 64 }

interface Measured {
  rates: number[]
  connections: number[]
  costs: CpuParts[]
}

/**
 * Deliveries per second from a topic of events to a receiver, against bare undici POSTs of the same bytes:
 * with the same concurrency and, where answers come at once, with undici's best.
 *
 * Both senders are warm, and both rates run from the first receipt to the last. The notifier starts from
 * events in their topic (fan out, write, claim, sign, send, finish), the bare sender from signed posts in
 * memory.
 */
export async function compareDeliveries(side: Side, notifierPid: () => number, deliveries: number) {
  const { receiver, fixture, certificate, answerMs } = side
  const meter = createCpuMeter({
    servicePid: notifierPid,
    applicationName: 'sluice-notifier',
    pool: fixture.pool,
    receiver,
  })
  const [own, bare, fewBare] = [measured(), measured(), measured()]
  const measure = async (into: Measured, work: () => Promise<void>) => {
    into.costs.push(await costOf(meter, deliveries, work))
    const receipts = await receiver.take()
    into.rates.push(rateOf(receipts))
    into.connections.push(receipts.connections)
  }
  const undici = createBareSender(certificate?.cert)
  await raiseAll(side, warmingDeliveries)
  for (const concurrency of Object.values(bareConcurrency))
    await undici.post(barePosts(side, warmingDeliveries), concurrency)
  await receiver.take()
  // Alternating rounds, and medians: other load on the machine then affects all alike.
  for (let round = 0; round < rounds; round++) {
    const posts = barePosts(side, deliveries)
    await measure(bare, () => undici.post(posts, bareConcurrency.asMany))
    if (answerMs === 0) await measure(fewBare, () => undici.post(posts, bareConcurrency.few))
    await raiseWhileHeld(side, notifierPid(), deliveries, (work) => measure(own, work))
  }
  await undici.close()
  print(certificate === undefined ? 'HTTP' : 'HTTPS', { bare, fewBare, own })
  const [ownCost, bareCost] = [medianCosts(own.costs), medianCosts(bare.costs)]
  return {
    undici_ratio_as_many: ratio(median(own.rates), median(bare.rates)),
    ...(answerMs === 0 ? { undici_ratio: ratio(median(own.rates), median(fewBare.rates)) } : {}),
    deliveries_per_s: median(own.rates),
    cpu_us_per_delivery: ownCost.service,
    postgres_us_per_delivery: ownCost.postgres,
    undici_us_per_post_as_many: bareCost.sender,
    ...(answerMs === 0 ? { undici_us_per_post: medianCosts(fewBare.costs).sender } : {}),
  }
}

function measured(): Measured {
  return { rates: [], connections: [], costs: [] }
}

function barePosts({ targets, receiver }: Side, count: number): BarePost[] {
  return eventsFor(targets, count).map(({ path, event }) => prepareBarePost(receiver.url + path, event))
}

/** Puts all events into their topic before the notifier takes the first, like the bare posts in memory. */
async function raiseWhileHeld(
  { fixture, receiver, targets }: Side,
  notifierPid: number,
  count: number,
  measure: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const before = await receiver.count()
  process.kill(-notifierPid, 'SIGSTOP')
  try {
    await fixture.raise(...eventsFor(targets, count).map(({ event }) => event))
  } finally {
    process.kill(-notifierPid, 'SIGCONT')
  }
  await measure(async () => {
    await untilReceived(receiver, before + count)
    await until(async () => {
      const { rowCount } = await fixture.pool.query(
        "select from webhook_deliveries where status = 'pending' limit 1",
      )
      return rowCount === 0
    })
  })
}

async function costOf(meter: CpuMeter, deliveries: number, work: () => Promise<void>): Promise<CpuParts> {
  const before = await meter.read()
  await work()
  const after = await meter.read()
  return mapParts((part) => (after[part] - before[part]) / deliveries)
}

function print(kind: string, { bare, fewBare, own }: Record<'bare' | 'fewBare' | 'own', Measured>): void {
  const row = ({ rates, connections, costs }: Measured) => {
    const cost = Object.entries(medianCosts(costs)).map(([part, us]) => [`${part} µs`, us] as const)
    const of = { 'deliveries/s': median(rates), 'new connections': median(connections) }
    return { ...of, ...Object.fromEntries(cost) }
  }
  const { asMany, few } = bareConcurrency
  console.table({
    [`bare undici, ${kind}, ${asMany} at a time`]: row(bare),
    ...(fewBare.rates.length === 0 ? {} : { [`bare undici, ${kind}, ${few} at a time`]: row(fewBare) }),
    [`notifier, ${kind}`]: row(own),
  })
}

function medianCosts(costs: readonly CpuParts[]): CpuParts {
  return mapParts((part) => Math.round(median(costs.map((each) => each[part]))))
}

function rateOf({ count, firstAtMs, lastAtMs }: Receipts): number {
  return Math.round(((count - 1) / ((lastAtMs ?? NaN) - (firstAtMs ?? NaN))) * 1_000)
}

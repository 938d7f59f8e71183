import { ratio } from './benchmark.ts'
import { createBareSender, prepareBarePost, type BarePost } from './bare-deliveries.ts'
import type { Receipts } from './counting-receiver.ts'
import { createCpuMeter, mapParts, type CpuMeter, type CpuParts } from './cpu-parts.ts'
import { eventsFor, raiseAll, untilReceived, type Side } from './delivery-targets.ts'
import { median } from './quantile.ts'
import { until } from './until.ts'

/** The compiler of a young process is a third of its work: bare posts are 11,000/s at first and 18,000/s after so many. */
const warmingDeliveries = 20_000
const rounds = 3
/** Where answers come at once undici takes the least processor with few (64: 19 µs a post, 512: 36); where they take time, as many as the notifier has places. */
const bareConcurrency = { atOnce: 64, later: 1_024 }

interface Measured {
  rates: number[]
  connections: number[]
  costs: CpuParts[]
}

/**
 * Deliveries per second from a topic of events to a receiver, against bare undici POSTs of the same bytes.
 *
 * Both rates are from the first receipt to the last, of senders that are warm: the notifier's from events that stand in their topic
 * (fanned out, written, claimed, signed, sent, finished), the bare one's from posts that stand signed in memory.
 */
export async function compareDeliveries(side: Side, notifierPid: () => number, deliveries: number) {
  const { receiver, stage, certificate, answerMs } = side
  const concurrency = answerMs === 0 ? bareConcurrency.atOnce : bareConcurrency.later
  const meter = createCpuMeter({
    servicePid: notifierPid,
    applicationName: 'sluice-notifier',
    pool: stage.pool,
    receiver,
  })
  const own: Measured = { rates: [], connections: [], costs: [] }
  const bare: Measured = { rates: [], connections: [], costs: [] }
  const measure = async (measured: Measured, work: () => Promise<void>) => {
    measured.costs.push(await costOf(meter, deliveries, work))
    const receipts = await receiver.take()
    measured.rates.push(rateOf(receipts))
    measured.connections.push(receipts.connections)
  }
  const undici = createBareSender(certificate?.cert)
  await raiseAll(side, warmingDeliveries)
  await undici.post(barePosts(side, warmingDeliveries), concurrency)
  await receiver.take()
  // In turns, and the medians: what else the machine does is then shared by both.
  for (let round = 0; round < rounds; round++) {
    const posts = barePosts(side, deliveries)
    await measure(bare, () => undici.post(posts, concurrency))
    await raiseWhileHeld(side, notifierPid(), deliveries, (work) => measure(own, work))
  }
  await undici.close()
  print(certificate === undefined ? 'HTTP' : 'HTTPS', bare, own)
  const [ownCost, bareCost] = [medianCosts(own.costs), medianCosts(bare.costs)]
  return {
    undici_ratio: ratio(median(own.rates), median(bare.rates)),
    deliveries_per_s: median(own.rates),
    cpu_us_per_delivery: ownCost.service,
    postgres_us_per_delivery: ownCost.postgres,
    undici_us_per_post: bareCost.sender,
  }
}

function barePosts({ targets, receiver }: Side, count: number): BarePost[] {
  return eventsFor(targets, count).map(({ path, event }) => prepareBarePost(receiver.url + path, event))
}

/** As the bare posts are made before the first is sent, the events stand in their topic before the notifier takes the first. */
async function raiseWhileHeld(
  { stage, receiver, targets }: Side,
  notifierPid: number,
  count: number,
  measure: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const before = await receiver.count()
  process.kill(-notifierPid, 'SIGSTOP')
  try {
    await stage.raise(...eventsFor(targets, count).map(({ event }) => event))
  } finally {
    process.kill(-notifierPid, 'SIGCONT')
  }
  await measure(async () => {
    await untilReceived(receiver, before + count)
    await until(async () => {
      const { rowCount } = await stage.pool.query(
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

function print(kind: string, bare: Measured, own: Measured): void {
  const row = ({ rates, connections, costs }: Measured) => {
    const cost = Object.entries(medianCosts(costs)).map(([part, us]) => [`${part} µs`, us] as const)
    const of = { 'deliveries/s': median(rates), 'new connections': median(connections) }
    return { ...of, ...Object.fromEntries(cost) }
  }
  console.table({ [`bare undici, ${kind}`]: row(bare), [`notifier, ${kind}`]: row(own) })
}

function medianCosts(costs: readonly CpuParts[]): CpuParts {
  return mapParts((part) => Math.round(median(costs.map((each) => each[part]))))
}

function rateOf({ count, firstAtMs, lastAtMs }: Receipts): number {
  return Math.round(((count - 1) / ((lastAtMs ?? NaN) - (firstAtMs ?? NaN))) * 1_000)
}

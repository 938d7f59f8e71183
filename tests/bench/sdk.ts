import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import OpenAI from 'openai'
import { createClient } from '../../sdk/typescript/index.ts'
import { startBenchProcess } from '../support/bench-process.ts'
import { printFigures } from '../support/benchmark.ts'
import { median } from '../support/quantile.ts'
import type { RecordCount } from '../support/record-counter.ts'

/**
 * What the SDK adds to a call of the official client, alternating call by call with the bare client on a
 * local provider. Then the CPU time of this process in alternating blocks of calls, including sending. Then
 * memory while the API is down: 500 calls per second for `--seconds`, more than the queue holds.
 */
const { values } = parseArgs({
  options: { calls: { type: 'string', default: '2000' }, seconds: { type: 'string', default: '60' } },
})
const calls = Number(values.calls)
const seconds = Number(values.seconds)
const chunksOfStream = 40
const callsOfBlock = 100
const callsPerSecond = 500
const queueBytes = 16 * 2 ** 20
const messages = [{ role: 'user' as const, content: 'words '.repeat(300) }]

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const provider = await startBenchProcess(new URL('../support/bench-provider.ts', import.meta.url))
const receiver = await startBenchProcess(new URL('../support/record-counter.ts', import.meta.url))
const options = { apiKey: 'k', baseURL: `${provider.url}/v1`, maxRetries: 0 }
const sluice = createClient({ apiKey: 'svc_bench', baseUrl: receiver.url })
const bare = new OpenAI(options)
const recorded = sluice.wrap(new OpenAI(options))
const clients = { bare, recorded }

try {
  for (const client of [bare, recorded]) for (let call = 0; call < 200; call++) await ask(client)
  const plain = await compare(calls, ask)
  const streamed = await compare(calls / 4, stream)
  await sluice.flush(60_000)
  const { distinct: stored } = await receiver.ask<RecordCount>({})
  const made = 200 + calls + calls / 4
  console.table({ plain, streamed })
  console.log(`${stored} of ${made} calls recorded`)
  if (stored !== made) throw new Error('calls were lost')
  const addedCpuUs = await addedCpu(Math.ceil(calls / callsOfBlock))
  const heapGrowthMb = await growthWhileAway()
  printFigures('sdk', {
    added_us_p50: plain.addedP50Us,
    added_us_per_chunk: round(streamed.addedP50Us / chunksOfStream),
    heap_growth_mb: heapGrowthMb,
    added_cpu_us: addedCpuUs,
  })
} finally {
  await sluice.shutdown(0)
  await Promise.all([provider.stop(), receiver.stop()])
}

async function ask(client: OpenAI): Promise<void> {
  await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
}

async function stream(client: OpenAI): Promise<void> {
  const chunks = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, stream: true })
  let count = 0
  for await (const chunk of chunks) count += chunk.choices.length
  if (count !== chunksOfStream) throw new Error(`a stream of ${count} chunks`)
}

interface Compared {
  bareP50Us: number
  recordedP50Us: number
  addedP50Us: number
}

async function compare(count: number, call: (client: OpenAI) => Promise<void>): Promise<Compared> {
  const took = { bare: [] as number[], recorded: [] as number[] }
  for (let index = 0; index < count; index++) {
    // Each goes first equally often: leftover work of one falls into the next.
    const turns = index % 2 === 0 ? (['bare', 'recorded'] as const) : (['recorded', 'bare'] as const)
    for (const turn of turns) took[turn].push(await timed(() => call(clients[turn])))
    // Records are encoded and sent between calls. Without pauses the next call of either would pay for them.
    if (index % 50 === 0) await sleep(5)
  }
  const [bareP50Us, recordedP50Us] = [median(took.bare), median(took.recorded)]
  return {
    bareP50Us: round(bareP50Us),
    recordedP50Us: round(recordedP50Us),
    addedP50Us: round(recordedP50Us - bareP50Us),
  }
}

/**
 * Additional CPU of the recorded client in this process, in µs per call: latency does not show work between
 * calls.
 */
async function addedCpu(blocks: number): Promise<number> {
  const cpuUs = { bare: [] as number[], recorded: [] as number[] }
  for (let block = 0; block < blocks; block++) {
    const turns = block % 2 === 0 ? (['bare', 'recorded'] as const) : (['recorded', 'bare'] as const)
    for (const turn of turns) {
      const start = process.cpuUsage()
      for (let call = 0; call < callsOfBlock; call++) await ask(clients[turn])
      if (turn === 'recorded') await sluice.flush(60_000)
      const { user, system } = process.cpuUsage(start)
      cpuUs[turn].push((user + system) / callsOfBlock)
    }
  }
  const [bare, recorded] = [median(cpuUs.bare), median(cpuUs.recorded)]
  console.log(
    `CPU of the process: ${round(bare)} µs a call bare, ${round(recorded)} recorded and sent (medians of ${blocks} blocks of ${callsOfBlock})`,
  )
  return round(recorded - bare)
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now()
  await work()
  return (performance.now() - startMs) * 1_000
}

async function growthWhileAway(): Promise<number> {
  const away = createClient({ apiKey: 'svc_bench', baseUrl: 'http://127.0.0.1:9', maxQueueBytes: queueBytes })
  const client = away.wrap(new OpenAI(options))
  await settleMemory()
  const before = held()
  const endMs = performance.now() + seconds * 1_000
  let made = 0
  for (const startMs = performance.now(); performance.now() < endMs;) {
    const due = Math.floor(((performance.now() - startMs) / 1_000) * callsPerSecond)
    const batch = Math.min(due - made, 50)
    await Promise.all(Array.from({ length: batch }, () => ask(client)))
    made += batch
    if (batch === 0) await sleep(5)
  }
  await settleMemory()
  const growth = (held() - before) / 2 ** 20
  const { waiting, heldBytes, dropped } = away.stats()
  console.log(
    `away for ${seconds} s: ${made} calls (${Math.round(made / seconds)}/s), ${waiting} records wait in ${heldBytes} bytes, ${dropped.queue_full} dropped`,
  )
  await away.shutdown(0)
  return round(growth)
}

/** Repeats: a collection frees buffers only after its sweep, and the next one what those kept alive. */
async function settleMemory(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    collectGarbage()
    await sleep(100)
  }
}

function held(): number {
  // `external` includes array buffers.
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function round(value: number): number {
  return Number(value.toFixed(1))
}

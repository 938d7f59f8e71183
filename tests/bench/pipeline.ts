import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printFigures, ratio } from '../support/benchmark.ts'
import { createPipelineMeter } from '../support/pipeline-meter.ts'
import { holdInFlight, holdRate } from '../support/pipeline-pace.ts'
import { startPipeline } from '../support/start-pipeline.ts'

/**
 * The whole system on this machine: gateway, API with ingest, sink, scorer, notifier, Kafka, registry and
 * Postgres, each in a process. Ordinary prompts and a few hostile ones go through the gateway. They are
 * stored and scored by all detectors (no judge), and failing scores go to a webhook.
 *
 * `--seconds`: calls answered, stored and scored per second with 500 in flight, and the CPU time of each
 * part; again with 2 and 4 sinks and scorers. `--minutes`: at half that rate, the time from answer to
 * readable scores, the maximum of calls in flight, and whether memory grows.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, minutes: { type: 'string', default: '10' } },
})
const seconds = Number(values.seconds)
const minutes = Number(values.minutes)
/** Enough that no part waits for the one before it; few enough that all are scored within seconds. */
const inFlight = 500

const pipeline = await startPipeline(join(import.meta.dirname, '..', '..', '.cache'))
try {
  const meter = createPipelineMeter(pipeline)
  // Warms up compilers and connections.
  await holdInFlight(pipeline, meter, { inFlight: 200, seconds: Math.max(5, seconds / 3) })
  const idle = await meter.idle(10)
  const one = await sustain('1 sink, 1 scorer')
  const steady = await keepHalf(one.calls_per_s)
  await pipeline.scaleOut()
  const two = await sustain('2 sinks, 2 scorers')
  await pipeline.scaleOut()
  await pipeline.scaleOut()
  const four = await sustain('4 sinks, 4 scorers')
  printFigures('pipeline', {
    ...one,
    ...steady,
    idle_cpu_ms_per_s: idle,
    scale_2: ratio(two.calls_per_s, one.calls_per_s),
    scale_4: ratio(four.calls_per_s, one.calls_per_s),
    cpu_ratio_2: ratio(two.cpu_s_per_million_calls, one.cpu_s_per_million_calls),
    cpu_ratio_4: ratio(four.cpu_s_per_million_calls, one.cpu_s_per_million_calls),
  })

  async function sustain(name: string) {
    const before = await meter.read()
    const { callsPerS } = await holdInFlight(pipeline, meter, { inFlight, seconds })
    const cost = meter.cost(before, await meter.read())
    console.log(`${name}: ${callsPerS.toFixed(1)} calls/s`)
    console.table(cost.cpuSecondsPerMillion)
    const byPart = Object.entries(cost.cpuSecondsPerMillion).map(([part, cpu]) => [`cpu_s_${part}`, cpu])
    return {
      calls_per_s: Number(callsPerS.toFixed(1)),
      cpu_s_per_million_calls: cost.total,
      ...(Object.fromEntries(byPart) as Record<string, number>),
      kafka_bytes_per_call: cost.kafkaBytes,
      postgres_bytes_per_call: cost.postgresBytes,
      deliveries_per_call: cost.deliveries,
    }
  }
} finally {
  await pipeline.close()
}

async function keepHalf(callsPerS: number): Promise<Record<string, number>> {
  const rate = callsPerS / 2
  const { latenciesMs, maxInFlight, memory } = await holdRate(pipeline, { rate, minutes })
  const at = (part: number) => Math.round(latenciesMs[Math.floor(latenciesMs.length * part)] ?? NaN)
  const [first, last] = maxInFlight
  console.log(
    `${latenciesMs.length} calls at ${rate.toFixed(1)} a second for ${minutes} minutes: at most ${first} on their way in the first half, ${last} in the second`,
  )
  console.table(memory)
  const ofMemory = Object.entries(memory).flatMap(([part, { 'resident MB': mb, 'grew by MB': grown }]) => [
    [`mb_${part}`, mb],
    [`mb_growth_${part}`, grown],
  ])
  return {
    answer_to_score_p50_ms: at(0.5),
    answer_to_score_p99_ms: at(0.99),
    in_flight_most_first_half: first,
    in_flight_most_second_half: last,
    ...(Object.fromEntries(ofMemory) as Record<string, number>),
  }
}

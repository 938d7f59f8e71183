import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readOrdinaryCalls } from '#evals/ordinary-traffic.ts'
import { maskRecord } from '#detectors/masking/mask-record.ts'
import { createMaskRecords } from '#services/gateway/masking/mask-records.ts'
import { printFigures } from '../support/benchmark.ts'

/**
 * CPU of masking the ordinary traffic of evals/datasets, by the cheapest of several rounds, and what a
 * gateway spends on each record of a project that does not mask.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const folder = join(import.meta.dirname, '..', '..', 'evals/datasets/ordinary')
const records = readOrdinaryCalls(folder, 'all').map(({ request, response }) =>
  Buffer.from(JSON.stringify({ id: 'req_1', request_body: request, response_body: response })),
)
const kilobytes = records.reduce((sum, record) => sum + record.length, 0) / 1_024
const key = Buffer.alloc(32, 1)

const cheapest = records.map(() => Infinity)
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [index, record] of records.entries()) {
    const us = cpuUs(() => maskRecord(record, key))
    cheapest[index] = Math.min(cheapest[index] ?? Infinity, us)
  }
}

const own = { projectId: 'prj_01m9v2r7a0eksrx5xyvd2f4tg8', tier: 'team', isEphemeral: false } as const
const masking = { mask: () => Promise.reject(new Error('nothing is masked')) }
const step = createMaskRecords({ ownSettings: () => own, findOther: undefined, masking })
const batch = Array.from({ length: 500 }, (_, index) =>
  Buffer.from(JSON.stringify({ id: `req_${index}`, project_id: own.projectId, request_body: {} })),
)
const batches = 2_000
let stepUs = Infinity
for (let round = 0; round < Number(values.rounds); round++) {
  const us = cpuUs(() => {
    for (let at = 0; at < batches; at++) void step(batch)
  })
  stepUs = Math.min(stepUs, us / (batches * batch.length))
}

printFigures('masking', {
  masked_us_per_kb: Number((cheapest.reduce((sum, us) => sum + us, 0) / kilobytes).toFixed(1)),
  unmasked_us_per_record: Number(stepUs.toFixed(3)),
})

function cpuUs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

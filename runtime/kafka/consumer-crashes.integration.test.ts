import { once } from 'node:events'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { consumerKinds, createConsumerBench, type ConsumerBench } from '#tests/support/consumer-bench.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { until } from '#tests/support/until.ts'

jest.setTimeout(180_000)

const script = join(import.meta.dirname, '../../tests/support/consumer-process.ts')
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `value ${from + index}`)

describe.each(consumerKinds)('the %s consumer in a process that dies', (kind) => {
  let bench: ConsumerBench
  let directory: string
  let children: ChildProcess[]
  const spawnConsumer = () => {
    const [broker = ''] = testInfrastructure().brokers
    const out = join(directory, 'out')
    const args = [
      '--kind',
      kind,
      '--broker',
      broker,
      '--topic',
      bench.topic,
      '--group',
      bench.groupId,
      '--out',
      out,
    ]
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'inherit', 'inherit'] })
    children.push(child)
    return child
  }
  const handled = async () =>
    (await readFile(join(directory, 'out'), 'utf8').catch(() => '')).split('\n').slice(0, -1)
  const committedSum = async () =>
    (await bench.committed()).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)

  beforeEach(async () => {
    bench = await createConsumerBench(kind)
    directory = await mkdtemp(join(tmpdir(), 'sluice-consumer-'))
    children = []
  })
  afterEach(async () => {
    for (const child of children)
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    await bench.close()
    await rm(directory, { recursive: true })
  })

  test('kill -9 in the middle of a batch loses nothing', async () => {
    await bench.send(numbered(400))
    const first = spawnConsumer()
    await until(async () => (await handled()).length > 60)
    first.kill('SIGKILL')
    await once(first, 'exit')
    const before = (await handled()).length
    expect(before).toBeLessThan(400)
    const second = spawnConsumer()
    await until(async () => (await committedSum()) === 400)
    second.kill('SIGTERM')
    expect(await once(second, 'exit')).toEqual([0, null])
    const all = await handled()
    expect(new Set(all).size).toBe(400)
    // What was under way when the first one died is done twice: a batch, or a window of each partition.
    expect(all.length).toBeLessThanOrEqual(400 + 3 * 32)
    expect((await bench.committed()).map(({ metadata }) => metadata)).toEqual([null, null, null])
  })

  test('a record that kills its process is dead-lettered at the third try, and its neighbours are handled', async () => {
    const values = [...numbered(50), 'killer', ...numbered(50, 50)]
    await bench.send(values)
    let deaths = 0
    while ((await committedSum()) < values.length) {
      const child = spawnConsumer()
      const exited = once(child, 'exit').then(() => true)
      const through = until(async () => child.signalCode !== null || (await committedSum()) === values.length)
      await Promise.race([exited, through])
      if (child.signalCode === 'SIGKILL') deaths += 1
      if (deaths > 3) break
    }
    expect(deaths).toBe(3)
    expect(new Set(await handled()).size).toBe(100)
    const letters = await bench.read(`${bench.topic}.dlq`)
    expect(letters.map(({ value, headers }) => [value?.toString(), headers['sluice-dlq-code']])).toEqual([
      ['killer', 'CRASHED'],
    ])
  })
})

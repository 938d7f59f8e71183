import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { testInfrastructure } from '../support/infrastructure.ts'

/** Half a minute of calls and faults. `scripts/chaos --minutes 60` covers what needs longer. */
const minutes = '0.5'
const tooLong = 'restart-all,scale-group,add-partition'

// A run mostly waits for recovery, which takes long on a busy machine.
const timeoutMs = 600_000

test(
  'the whole system under faults: nothing lost, nothing twice, every count exact',
  async () => {
    const run = join(import.meta.dirname, 'whole-system', 'run.ts')
    const { registryUrl } = testInfrastructure()
    const load = ['--seed', '23', '--minutes', minutes, '--calls-per-second', '5', '--without', tooLong]
    const child = spawn(process.execPath, [run, ...load, '--registry', registryUrl], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    const hear = (chunk: Buffer) => (said += chunk.toString())
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const [code] = (await once(child, 'close')) as [number | null]
    expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' })
  },
  timeoutMs,
)

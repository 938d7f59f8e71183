import { createSecretKey } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import type { SpoolOptions } from '#services/gateway/spool/spool-options.ts'
import { Spool } from '#services/gateway/spool/spool.ts'

export const spoolKey = createSecretKey(Buffer.alloc(32, 3))

export interface SpoolFixture {
  directory: string
  /** Reasons, with the number of records. */
  lost: [string, number][]
  open(options?: Partial<SpoolOptions>): Promise<Spool>
}

/** A directory for spools, for each test of the file. */
export function useSpools(): SpoolFixture {
  let names = 0
  const fixture: SpoolFixture = {
    directory: '',
    lost: [],
    async open(options = {}) {
      const spool = new Spool({
        directory: fixture.directory,
        name: `t${names++}`,
        key: spoolKey,
        maxBytes: 64 * 1024 * 1024,
        maxAsideBytes: 64 * 1024 * 1024,
        maxWaitingBytes: 64 * 1024 * 1024,
        stripBodies: (record) => record,
        now: Date.now,
        log: createLog('spool-test', 'silent'),
        onLost: (reason, records) => fixture.lost.push([reason, records]),
        ...options,
      })
      await spool.open()
      return spool
    },
  }
  beforeEach(async () => {
    fixture.directory = await mkdtemp(join(tmpdir(), 'sluice-spool-'))
    fixture.lost = []
  })
  afterEach(() => rm(fixture.directory, { recursive: true }))
  return fixture
}

/** Takes and acknowledges everything. */
export async function drainSpool(spool: Spool, maxRecords = 100): Promise<string[]> {
  const seen: string[] = []
  for (;;) {
    const batch = await spool.take(maxRecords, 1024 * 1024)
    if (batch === undefined) return seen
    seen.push(...batch.records.map(String))
    await spool.acknowledge(batch)
  }
}

export async function appendAll(spool: Spool, ...records: string[]): Promise<void> {
  await Promise.all(records.map((record) => spool.append(Buffer.from(record))))
}

export function numbered(count: number, size = 0): string[] {
  return Array.from({ length: count }, (_, n) => `${n}:${'x'.repeat(size)}`)
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeProjects } from '../chaos/whole-system/fixture/make-projects.ts'
import { awaitRest } from '../chaos/whole-system/ledger/await-rest.ts'
import { compareLedgers, type Finding } from '../chaos/whole-system/ledger/compare-ledgers.ts'
import { readFound } from '../chaos/whole-system/ledger/read-found.ts'
import { startCalling, type Calling } from '../chaos/whole-system/load/keep-calling.ts'
import { root, type PlatformContext, type PlatformPart } from '../platform/platform-part.ts'
import { readMetric } from '../support/read-metric.ts'
import { checkOut } from '../support/check-out.ts'
import { released } from './released.ts'
import { startSystem, type UpgradeSystem } from './start-system.ts'

const processes = ['api', 'ingest', 'sink', 'scorer', 'notifier', 'gateway'] as const
const numbered = (number: 1 | 2) => processes.map((name) => `${name}-${number}`)
const without = (names: readonly string[], name: string) => names.filter((one) => one !== name)
/** How long calls come before and after each step. */
const stepMs = 15_000
const restWithinMs = 180_000
const callsPerSecond = 5
/** Calls that the limited project may still make: its limit is reached between the versions. */
const room = 20
/** The first migration before 0.1.0, where names were others. */
const nameBefore = join('infra', 'migrations', '0001-projects.ts')

export const upgradePart: PlatformPart = {
  about: `upgrades a system under load from ${released.slice(0, 8)} to these files, and compares the ledger`,
  async run(context) {
    const { report } = context
    const before = await report.need(`${released.slice(0, 8)} is checked out`, () =>
      checkOut(released, context.cache),
    )
    const system = await report.need('Kafka, the registry and Postgres start', () => startSystem(context))
    await report.need('the released version migrates and starts', async () => {
      await system.migrate(before)
      await system.start(before, ['api-1'])
    })
    const projects = await makeProjects(
      system.addresses,
      system.parts.receivers,
      system.parts.postgres.url,
      room,
    )
    const { apiKey } = projects.open
    await report.need('its other services start', () =>
      system.start(before, without(numbered(1), 'api-1'), apiKey),
    )
    const calling = startCalling({ fixture: { ...system, projects }, seed: 1, callsPerSecond })
    await upgrade(context, system, before, apiKey)
    await calling.stop()
    await compare(context, { ...system, projects }, calling)
  },
}

/** While calls come: new tables under old processes, both versions side by side, then the new one alone. */
async function upgrade(
  { report }: PlatformContext,
  system: UpgradeSystem,
  before: string,
  apiKey: string,
): Promise<void> {
  await sleep(stepMs)
  await report.need('scripts/migrate runs under the released services', async () => {
    await system.migrate(root)
    requireNone(await system.migrate(root, '--status'), /^(pending|newer).*$/m)
  })
  await sleep(stepMs)
  await report.need('a new notifier, which reads new kinds of events, replaces the old one', async () => {
    await system.start(root, ['notifier-2'], apiKey)
    requireExit(await system.stop(['notifier-1']))
  })
  await sleep(stepMs)
  await report.need('the other new processes start beside the old ones', () =>
    system.start(root, without(numbered(2), 'notifier-2'), apiKey),
  )
  await sleep(stepMs)
  await report.need('the old ones end, and lose nothing of their spools', async () => {
    const lost = await readMetric(
      system.services.get('gateway-1')?.operationsPort ?? 0,
      'sluice_gateway_records_lost_total',
    )
    requireExit(await system.stop(without(numbered(1), 'notifier-1')))
    if (lost > 0) throw new Error(`${lost} lost`)
  })
  await report.need('a new gateway takes over the spool of the old one', () =>
    system.start(root, ['gateway-1'], apiKey),
  )
  const passes = 'scripts/migrate of the released version passes over what is newer'
  if (existsSync(join(before, nameBefore))) report.skip(passes, 'its migrations have the names before 0.1.0')
  else await report.check(passes, () => system.migrate(before))
  await sleep(stepMs)
}

function requireExit(codes: readonly (number | null)[]): void {
  if (codes.some((code) => code !== 0)) throw new Error(`exit codes ${codes.join()}`)
}

function requireNone(text: string, unwanted: RegExp): void {
  const [found] = unwanted.exec(text) ?? []
  if (found !== undefined) throw new Error(found)
}

async function compare(
  { report, say }: PlatformContext,
  system: Parameters<typeof readFound>[0] & Parameters<typeof awaitRest>[0],
  { calls, problems }: Calling,
): Promise<void> {
  const { leftOver } = await report.need('everything comes to rest', () => awaitRest(system, restWithinMs))
  const found = await readFound(system, room)
  say(`${calls.length} calls, ${found.stored.length} stored, ${found.receipts.length} deliveries`)
  const once: Finding = {
    invariant: 'each delivery came to its receiver once',
    checked: found.receipts.length,
    wrong: found.receipts
      .filter(({ taken }) => taken !== 1)
      .map(({ deliveryId, taken }) => `${deliveryId}: ${taken}`),
  }
  for (const { invariant, checked, wrong } of [
    ...compareLedgers({ calls, problems, leftOver, lost: 0, ...found }),
    once,
  ])
    await report.check(`${invariant} (${checked})`, () => {
      if (checked === 0) throw new Error('there was nothing to compare')
      if (wrong.length > 0) throw new Error(wrong.slice(0, 5).join('; '))
    })
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../engine/run-program.ts'
import type { PlatformPart } from '../platform-part.ts'
import { installPython } from '../python/python-venv.ts'
import { problemsOfCards } from './check-cards.ts'
import { checkTypes } from './check-types.ts'
import { samplePayloads } from './sample-payloads.ts'
import { fetchVendorPackages } from './vendor-packages.ts'

const folder = import.meta.dirname
/** Types of what the payloads are. The client library leaves out two fields that PagerDuty documents. */
const slackMessage =
  '{ text: string; blocks: vendor.KnownBlock[]; unfurl_links: boolean; unfurl_media: boolean }'
const pagerDutyEvent = "Parameters<typeof vendor.event>[0]['data'] & { client?: string; client_url?: string }"

export const formatsPart: PlatformPart = {
  about: "payloads of destinations and audit entries against their vendors' schemas and libraries",
  async run({ cache, report, say, undo }) {
    const vendors = await report.need("the vendors' packages are fetched", () => fetchVendorPackages(cache))
    const python = await report.need('Python has the schemas of OCSF', () =>
      installPython(cache, join(folder, 'requirements.txt'), say),
    )
    const payloads = samplePayloads()
    await report.check(`${payloads.slack.length} messages have the types of Slack`, () =>
      checkTypes(join(vendors.slack, 'dist', 'index.d.ts'), slackMessage, payloads.slack),
    )
    await report.check(`${payloads.pagerduty.length} events have the types of PagerDuty's client`, () =>
      checkTypes(join(vendors.pagerduty, 'build', 'src', 'index.d.ts'), pagerDutyEvent, payloads.pagerduty),
    )
    await report.check(`Microsoft's library reads ${payloads.teams.length} cards without a complaint`, () =>
      refuse(problemsOfCards(vendors.cards, payloads.teams)),
    )
    const directory = await mkdtemp(join(tmpdir(), 'sluice-formats-'))
    undo.push(() => rm(directory, { recursive: true }))
    const file = join(directory, 'payloads.json')
    const adf = join(vendors.jira, 'dist', 'json-schema', 'v1', 'full.json')
    const { jira, ocsf, audit } = payloads
    const counts = `${jira.length} documents of Jira, ${ocsf.length} findings and ${audit.length} audit entries`
    await report.check(`${counts} of OCSF 1.3.0 keep to the published schemas`, async () => {
      await writeFile(file, JSON.stringify(payloads))
      const said = await runProgram(python, [join(folder, 'check_schemas.py'), file, adf])
      refuse(said.split('\n').filter((line) => line !== ''))
    })
  },
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error([...new Set(problems)].slice(0, 20).join('; '))
}

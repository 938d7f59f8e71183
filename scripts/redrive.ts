import { parseArgs } from 'node:util'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import { callApi, findApi, type OperatorApi } from './stack/operator-api.ts'

const usage = `scripts/redrive [--topic NAME] [--code CODE] [--project ID] [--from TIME] [--to TIME] [--dry-run] [--state DIR]
scripts/redrive ID...

  sends open dead letters to the topics they came from, oldest first, each once

  --topic NAME     of this topic (without .dlq)       --code CODE    given up with this code
  --project ID     of this project                    --from, --to   given up in this time (ISO 8601)
  --dry-run        only count them
  --state DIR      the running stack (.sluice); PUBLIC_BASE_URL and INTERNAL_API_SECRET take its place
`

function readArguments() {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        topic: text,
        code: text,
        project: text,
        from: text,
        to: text,
        state: text,
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new CannotStart(`${messageOf(error)}\n\n${usage}`)
  }
}

async function redriveByFilter(api: OperatorApi, filter: Record<string, string>): Promise<number> {
  let failures = 0
  for (let total = 0; ;) {
    const { redriven, failed } = await callApi<{
      redriven: number
      failed: { id: string; detail: string }[]
    }>(api, 'POST', '/api/dead-letters/redrive', filter)
    total += redriven
    failures += failed.length
    for (const { id, detail } of failed) console.error(`${id}: ${detail}`)
    console.log(`${total} sent again`)
    // What failed is either decided now, or would fail for ever.
    if (redriven === 0) return failures
  }
}

async function run(): Promise<void> {
  const { values, positionals } = readArguments()
  if (values.help === true) {
    console.log(usage)
    return
  }
  const api = await findApi(values.state, process.env)
  const { topic, code, project, from, to } = values
  const given = Object.entries({ topic, code, project_id: project, start: from, end: to })
  const filter = Object.fromEntries(
    given.filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  for (const id of positionals) {
    await callApi(api, 'POST', `/api/dead-letters/${encodeURIComponent(id)}/redrive`)
    console.log(`${id} sent again`)
  }
  if (positionals.length > 0) return
  if (values['dry-run'] === true) {
    const query = new URLSearchParams({ ...filter, status: 'open', limit: '1' }).toString()
    const { total } = await callApi<{ total: number }>(api, 'GET', `/api/dead-letters?${query}`)
    console.log(`${total} open`)
    return
  }
  if ((await redriveByFilter(api, filter)) > 0) process.exitCode = 1
}

try {
  await run()
} catch (error) {
  if (!(error instanceof CannotStart)) throw error
  console.error(`sluice: ${error.message}`)
  process.exitCode = 2
}

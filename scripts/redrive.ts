import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Connection } from './stack/connection.ts'
import { statePaths } from './stack/state-directory.ts'

const usage = `scripts/redrive [--topic NAME] [--code CODE] [--project ID] [--from TIME] [--to TIME] [--dry-run] [--state DIR]
scripts/redrive ID...

  sends open dead letters to the topics they came from, oldest first, each once

  --topic NAME     of this topic (without .dlq)       --code CODE    given up with this code
  --project ID     of this project                    --from, --to   given up in this time (ISO 8601)
  --dry-run        only count them
  --state DIR      the running stack (.sluice); PUBLIC_BASE_URL and INTERNAL_API_SECRET take its place
`

interface Api {
  baseUrl: string
  secret: string
}

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

async function findApi(state: string | undefined): Promise<Api> {
  const { PUBLIC_BASE_URL: baseUrl, INTERNAL_API_SECRET: secret } = process.env
  if (state === undefined && baseUrl !== undefined && secret !== undefined) return { baseUrl, secret }
  const { connection } = statePaths(resolve(state ?? '.sluice'))
  try {
    const found = JSON.parse(await readFile(connection, 'utf8')) as Connection
    return { baseUrl: found.base_url, secret: found.internal_api_secret }
  } catch (error) {
    throw new CannotStart(
      `cannot read ${connection} (${messageOf(error)}): name a running stack with --state, or set PUBLIC_BASE_URL and INTERNAL_API_SECRET`,
    )
  }
}

async function call<T>({ baseUrl, secret }: Api, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(new URL(path, baseUrl), {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as T & { detail?: string; code?: string }
  if (!response.ok)
    throw new CannotStart(`${answer.code ?? response.status}: ${answer.detail ?? 'no detail'}`)
  return answer
}

async function redriveByFilter(api: Api, filter: Record<string, string>): Promise<number> {
  let failures = 0
  for (let total = 0; ;) {
    const { redriven, failed } = await call<{ redriven: number; failed: { id: string; detail: string }[] }>(
      api,
      'POST',
      '/api/dead-letters/redrive',
      filter,
    )
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
  const api = await findApi(values.state)
  const { topic, code, project, from, to } = values
  const given = Object.entries({ topic, code, project_id: project, start: from, end: to })
  const filter = Object.fromEntries(
    given.filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  for (const id of positionals) {
    await call(api, 'POST', `/api/dead-letters/${encodeURIComponent(id)}/redrive`)
    console.log(`${id} sent again`)
  }
  if (positionals.length > 0) return
  if (values['dry-run'] === true) {
    const query = new URLSearchParams({ ...filter, status: 'open', limit: '1' }).toString()
    const { total } = await call<{ total: number }>(api, 'GET', `/api/dead-letters?${query}`)
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

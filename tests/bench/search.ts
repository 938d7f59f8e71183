import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { createSignCall } from '#capture/search/search-signature.ts'
import { createSealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import { copyRows } from '#services/sink/stores/copy-rows.ts'
import { bodyColumns, callColumns, signatureColumns } from '#services/sink/stores/call-columns.ts'
import { many, placeSample, sampleCall } from '#services/sink/testing/sample-records.ts'
import { cpuOfProcess } from '../support/bench-process.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { ordinaryAnswer, ordinaryPrompts } from '../support/real-prompts.ts'
import { startApi } from '../support/start-api.ts'

/**
 * A search for a word that three calls have, over signatures of real calls: every third of
 * evals/datasets/ordinary (agents with tools), the others everyday prompts with an answer of 1 kB. Made calls
 * are copied under other identifiers, so all calls of the store are signed but few are different. Also what a
 * signature takes of CPU and bytes, and when a search for a common word has its first result.
 */
const { values } = parseArgs({
  options: { calls: { type: 'string', default: '200000' }, different: { type: 'string', default: '10000' } },
})
const [callCount, different] = [Number(values.calls), Number(values.different)]
const [needle, common] = ['zzneedle4711', 'the']
const key = { id: 's1', key: Buffer.alloc(32, 1) }
const bodies = readBodies()

const stopInfrastructure = await openBenchmark()
const api = await startApi({
  SEARCH_KEY: `${key.id}:${key.key.toString('base64')}`,
  STATEMENT_TIMEOUT_MS: '120000',
})
const client = new Client({ connectionString: api.pool.options.connectionString })
await client.connect()
try {
  const { projectId, key: apiKey } = await api.createProject()
  const signed = signAll()
  await fill(projectId)
  // Starts the thread and fills caches.
  await search(apiKey, needle)
  const cpuBefore = await cpuUs()
  const rare = await search(apiKey, needle)
  const cpuSeconds = ((await cpuUs()) - cpuBefore) / 1_000_000
  const often = await search(apiKey, common)
  const figures = {
    calls: callCount,
    signature_us: Math.round(signed.us),
    signature_bytes: Math.round(signed.bytes),
    scanned_share: signed.scanned,
    rare_opened_share: ratio(rare.end.opened, rare.end.looked_at),
    rare_found: rare.found,
    rare_seconds: rare.seconds,
    seconds_per_million: ratio(rare.seconds * 1_000_000, callCount),
    cpu_seconds_per_million: ratio(cpuSeconds * 1_000_000, callCount),
    common_first_ms: often.firstMs,
  }
  console.table(figures)
  printFigures('search', figures)
} finally {
  await client.end()
  await api.stop()
  await stopInfrastructure()
}

/** Of this process, with the API and its thread, and of the API's Postgres backends. */
async function cpuUs(): Promise<number> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name like 'api%' and datname = current_database()`,
  )
  const { user, system } = process.cpuUsage()
  return rows.reduce((sum, { pid }) => sum + (cpuOfProcess(pid) ?? 0), user + system)
}

interface Bodies {
  requestBody: Buffer
  responseBody: Buffer | null
}

function readBodies(): Bodies[] {
  const folder = join(import.meta.dirname, '..', '..', 'evals', 'datasets', 'ordinary')
  const ordinary = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as { request: object; response?: object | null })
  const prompts = ordinaryPrompts(different)
  const answer = JSON.stringify({ choices: [{ message: { role: 'assistant', content: ordinaryAnswer() } }] })
  return many(different, (index) => {
    // An identifier that no other call has, as most calls have some.
    const id = `order ${index.toString(36)}-${(index * 7919).toString(36)}`
    const known = index % 3 === 0 ? ordinary[(index / 3) % ordinary.length] : undefined
    const asked = { role: 'user', content: `${prompts[index] ?? ''} ${id}` }
    return {
      requestBody: Buffer.from(JSON.stringify(known?.request ?? { messages: [asked] })),
      responseBody: Buffer.from(known === undefined ? answer : JSON.stringify(known.response ?? {})),
    }
  })
}

/** What a signature costs, once the words that most calls have are known. */
function signAll() {
  const sign = createSignCall([key])
  const projectId = newId('project')
  const each = () =>
    bodies.map(({ requestBody, responseBody }) => sign(projectId, [requestBody, responseBody]))
  each()
  const before = process.cpuUsage()
  const signatures = each()
  const { user, system } = process.cpuUsage(before)
  const sizes = signatures.map((signature) => signature?.bits.length ?? 0)
  return {
    us: (user + system) / different,
    bytes: sizes.reduce((sum, size) => sum + size, 0) / different,
    scanned: ratio(sizes.filter((size) => size === 0).length, different),
  }
}

/** All calls within today, or the part of it that has passed. */
async function fill(projectId: string): Promise<void> {
  const sign = createSignCall([key])
  const sealer = createSealer([])
  const day = new Date().toISOString().slice(0, 10)
  const sinceMs = Date.parse(`${day}T00:00:00Z`)
  const stepMs = (Date.now() - sinceMs) / (callCount + 1)
  const tables = ['llm_requests', 'llm_request_bodies', 'search_signatures'] as const
  const columns = [callColumns, bodyColumns, signatureColumns]
  await client.query('select ensure_day_partitions($1::date)', [day])
  // Without checks of foreign keys and fsync: only reading is measured.
  await client.query(`set session_replication_role = replica; set synchronous_commit = off`)
  const made = bodies.map(({ requestBody, responseBody }, index) => {
    const isRare = index % Math.ceil(different / 3) === 1
    const asked = isRare ? Buffer.from(JSON.stringify({ prompt: `where is ${needle}?` })) : requestBody
    return {
      request_body: sealer.seal(asked, ''),
      response_body: responseBody === null ? null : sealer.seal(responseBody, ''),
      // Only in one of the copies: the others have the signature of the call as it was.
      search: sign(projectId, [asked, responseBody]),
      usual: {
        request_body: sealer.seal(requestBody, ''),
        search: sign(projectId, [requestBody, responseBody]),
      },
    }
  })
  const [first] = made
  if (first === undefined) throw new Error('no calls')
  for (let from = 0; from < callCount; from += 20_000) {
    const calls = many(Math.min(20_000, callCount - from), (index) => {
      const { usual, ...own } = made[(from + index) % different] ?? first
      const sealed = from + index < different ? own : { ...own, ...usual }
      const id = newId('request', Math.floor(sinceMs + (from + index) * stepMs))
      return placeSample(sampleCall(projectId, { id, ...sealed }), index)
    })
    await client.query('begin')
    for (const [index, table] of tables.entries()) await copyRows(client, table, columns[index] ?? [], calls)
    await client.query('commit')
    process.stderr.write(`${from + calls.length} of ${callCount} calls\n`)
  }
  for (const table of tables) await client.query(`vacuum (analyze) ${table}`)
}

interface End {
  looked_at: number
  opened: number
}

async function search(apiKey: string, text: string) {
  const beganMs = performance.now()
  const response = await fetch(`${api.baseUrl}/api/requests/search`, {
    method: 'POST',
    headers: { 'x-service-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  })
  let firstMs = 0
  let all = ''
  for await (const chunk of response.body ?? []) {
    all += Buffer.from(chunk as Uint8Array).toString('utf8')
    if (firstMs === 0 && all.includes('"match"')) firstMs = Math.round(performance.now() - beganMs)
  }
  const lines = all
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string } & End)
  const end = lines.at(-1)
  if (end?.type !== 'end') throw new Error(`the search did not end: ${all.slice(-500)}`)
  const found = lines.filter(({ type }) => type === 'match').length
  return { end, found, firstMs, seconds: ratio(performance.now() - beganMs, 1_000) }
}

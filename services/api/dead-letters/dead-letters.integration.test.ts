import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Kafka } from 'kafkajs'
import { awaitTopics } from '#infra/create-topics.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import { createLog } from '#runtime/log.ts'
import { idTimeMs, idToUuid, newId } from '#schemas/ids.ts'
import { avroSchemas } from '#schemas/topics.ts'
import { schemaExamples } from '#scripts/schema-examples.ts'
import { createDeadLetters } from '#tests/support/create-dead-letters.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { programEnvironment } from '#tests/support/program-environment.ts'
import { readLog } from '#tests/support/read-log.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { operatorSecret, startApi, type RunningApi } from '#tests/support/start-api.ts'

const source = 'llm.request.logged'
/** A topic that refuses anything but small records. */
const narrow = 'narrow.topic'

let api: RunningApi
let kafka: Kafka

beforeAll(async () => {
  api = await startApi()
  const { brokers } = testInfrastructure()
  kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'test', log: createLog('test', 'silent') })
  const admin = kafka.admin()
  await admin.connect()
  const named = (name: string) => ({ topic: `${api.topicPrefix}${name}`, numPartitions: 1 })
  const small = [{ name: 'max.message.bytes', value: '500' }]
  const made = [named(`${source}.dlq`), named(`${narrow}.dlq`), { ...named(narrow), configEntries: small }]
  await admin.createTopics({ topics: made, waitForLeaders: false })
  await awaitTopics(
    admin,
    made.map(({ topic, numPartitions }) => ({ name: topic, partitions: numPartitions })),
  )
  await admin.disconnect()
})

afterAll(() => api.stop())

/** A dead letter and its row, as the runtime and the sink leave them. Returns its identifier. */
async function bury(key: string, value: Buffer | null): Promise<string> {
  const [id = ''] = await buryAll([[key, value]], source)
  return id
}

const buryAll = (letters: readonly [key: string, value: Buffer | null][], topic: string) =>
  createDeadLetters({ api, kafka }, letters, topic)

const post = (path: string, body?: unknown) =>
  api.call('POST', `/api/dead-letters/${path}`, {
    operator: true,
    ...(body === undefined ? {} : { body }),
  })

const sourceRecords = async (key: string) =>
  (await readLog(kafka, `${api.topicPrefix}${source}`)).filter((record) => record.key === key)

test('a dead letter is sent again byte for byte and once, however often and by how many it is asked', async () => {
  const key = newId('request')
  const bytes = Buffer.from([0, 1, 2, 255])
  const id = await bury(key, bytes)
  const answers = await Promise.all([post(`${id}/redrive`), post(`${id}/redrive`), post(`${id}/redrive`)])
  expect(answers.map(({ status, json }) => [status, json['status']])).toEqual(
    Array.from({ length: 3 }, () => [200, 'redriven']),
  )
  const records = await sourceRecords(key)
  expect(records.map(({ value, headers }) => [value, headers])).toEqual([
    [bytes, { mine: Buffer.from('kept') }],
  ])
  expect((await post(`${id}/drop`, { reason: 'late' })).json['code']).toBe('DEAD_LETTER_REDRIVEN')
})

test('one without a value, a dropped one and one that Kafka lost are not sent, and each says why', async () => {
  const empty = await bury(newId('request'), null)
  expect((await post(`${empty}/redrive`)).json['code']).toBe('DEAD_LETTER_WITHOUT_VALUE')
  const key = newId('request')
  const dropped = await bury(key, Buffer.from('x'))
  const drop = await post(`${dropped}/drop`, { reason: 'a test' })
  expect([drop.json['status'], drop.json['reason']]).toEqual(['dropped', 'a test'])
  expect((await post(`${dropped}/redrive`)).json['code']).toBe('DEAD_LETTER_DROPPED')
  const lost = await bury(key, Buffer.from('y'))
  await api.pool.query('update dead_letters set "offset" = 4711 where id = $1', [idToUuid(lost)])
  const answer = await post(`${lost}/redrive`)
  expect([answer.status, answer.json['code']]).toEqual([410, 'DEAD_LETTER_GONE'])
  expect((await post(`${newId('deadLetter')}/redrive`)).status).toBe(404)
  expect(await sourceRecords(key)).toEqual([])
})

test('many are sent by filter, oldest first and so many, and listed by what became of them', async () => {
  const keys = [newId('request'), newId('request'), newId('request')]
  const ids: string[] = []
  for (const key of keys) ids.push(await bury(key, Buffer.from(key)))
  const none = { redriven: 0, failed: [], next: null }
  expect((await post('redrive', { code: 'OTHER' })).json).toEqual(none)
  const first = { redriven: 2, failed: [], next: ids[1] }
  expect((await post('redrive', { topic: source, limit: 2 })).json).toEqual(first)
  const open = await api.call('GET', '/api/dead-letters?status=open&code=UNSTORABLE&limit=1', {
    operator: true,
  })
  expect(open.json).toMatchObject({ data: [{ id: ids[2], status: 'open', key: keys[2] }] })
  expect((await post('redrive', { after: ids[2] })).json).toEqual(none)
  expect((await post('redrive', { after: ids[1] })).json).toEqual({ ...none, redriven: 1, next: ids[2] })
  expect((await Promise.all(keys.map(sourceRecords))).map((records) => records.length)).toEqual([1, 1, 1])
})

test('many are dropped by filter and with a reason, also those without a value; the first reason stays', async () => {
  const sent = await bury(newId('request'), Buffer.from('x'))
  await post(`${sent}/redrive`)
  const ids = [await bury('a', Buffer.from('x')), await bury('b', null), await bury('c', Buffer.from('x'))]
  await post(`${ids[0] ?? ''}/drop`, { reason: 'the first' })
  expect((await post('drop', { topic: source })).status).toBe(422)
  // The previous test left one without a value open.
  const start = new Date(idTimeMs(sent)).toISOString()
  const first = await post('drop', { topic: source, start, limit: 1, reason: 'of no use' })
  expect(first.json).toEqual({ dropped: 1, failed: [], next: ids[1] })
  const second = await post('drop', { topic: source, start, after: ids[1], reason: 'of no use' })
  expect(second.json).toEqual({ dropped: 1, failed: [], next: ids[2] })
  const { rows } = await api.pool.query<{ status: string; reason: string | null }>(
    'select status, reason from dead_letters where id = any ($1::uuid[]) order by dead_at, id',
    [[sent, ...ids].map(idToUuid)],
  )
  expect(rows).toEqual([
    { status: 'redriven', reason: null },
    { status: 'dropped', reason: 'the first' },
    { status: 'dropped', reason: 'of no use' },
    { status: 'dropped', reason: 'of no use' },
  ])
})

/** As ingest writes it. */
async function encoded(call: object): Promise<Buffer> {
  const { registryUrl } = testInfrastructure()
  const registry = createRegistryCodec({ url: registryUrl, log: createLog('test', 'silent') })
  const subject = `${api.topicPrefix}${source}-value`
  return registry.codec({ subject, schema: avroSchemas.LlmRequestLogged }).encode(call)
}

test('what one holds is shown decoded to administrators, nothing sealed and nothing erased, and who looked is written down', async () => {
  const { projectId } = await api.createProject()
  const data = Buffer.from('SAID')
  const call = {
    ...schemaExamples.LlmRequestLogged,
    id: newId('request'),
    project_id: projectId,
    error: 'x'.repeat(1_001),
    request_body: { codec: 'none', key_id: 'k1', data },
    response_body: { codec: 'none', key_id: null, data },
  }
  const id = await bury(call.id, await encoded(call))
  const [admin, analyst] = [await signInPerson(api, 'admin'), await signInPerson(api, 'analyst')]
  const path = (letter: string) => `/api/dead-letters/${letter}/content`
  const shown = await admin.call('GET', path(id))
  expect([shown.status, shown.text.includes('SAID')]).toEqual([200, false])
  expect(shown.json).toMatchObject({
    content: {
      id: call.id,
      user_id: call.user_id,
      error: `${'x'.repeat(1_000)}… 1 more characters`,
      request_body: { sealed_bytes: 4, key_id: 'k1' },
      response_body: { sealed_bytes: 4, key_id: null },
    },
    reason: null,
  })
  expect((await analyst.call('GET', path(id))).json['code']).toBe('ROLE_FORBIDS')

  const reasonOf = async (letter: string) => {
    const { json } = await admin.call('GET', path(letter))
    return [json['content'], json['reason']]
  }
  const because = (words: string) => [null, expect.stringContaining(words) as unknown]
  expect(await reasonOf(await bury('a', Buffer.from('no Avro')))).toEqual(because('cannot be decoded'))
  expect(await reasonOf(await bury('b', null))).toEqual(because('was not kept'))
  const unknown = await bury('c', Buffer.from('x'))
  await api.pool.query(`update dead_letters set topic = 'unheard.of' where id = $1`, [idToUuid(unknown)])
  expect(await reasonOf(unknown)).toEqual(because('no topic whose records are known'))
  const lost = await bury('d', Buffer.from('x'))
  await api.pool.query('update dead_letters set "offset" = 4711 where id = $1', [idToUuid(lost)])
  expect(await reasonOf(lost)).toEqual(because('Kafka keeps its record no longer'))
  expect((await admin.call('GET', path(newId('deadLetter')))).status).toBe(404)
  const body = { scope: 'user', subject: call.user_id }
  expect((await admin.call('POST', `/api/erasures?project_id=${projectId}`, { body })).status).toBe(202)
  expect(await reasonOf(id)).toEqual(because('was erased'))

  const { rows } = await api.pool.query(
    `select subject, actor_name from audit_log where action = 'dead_letter.content_viewed'`,
  )
  expect(rows).toEqual([{ subject: id, actor_name: admin.login }])
})

/** The output of the script at a terminal. */
async function runScript(...given: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['scripts/redrive.ts', ...given], {
    env: { ...programEnvironment(), PUBLIC_BASE_URL: api.baseUrl, INTERNAL_API_SECRET: operatorSecret },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

test('scripts/redrive lists, shows and drops', async () => {
  const id = await bury('strange', Buffer.from('x'))
  const projectId = newId('project')
  const filter = ['--topic', source, '--project', projectId]
  await api.pool.query('update dead_letters set project_id = $2, message = $3 where id = $1', [
    idToUuid(id),
    idToUuid(projectId),
    'clear \u001b[2J\u009b2J the screen',
  ])
  const listed = await runScript('list', ...filter)
  expect(listed).toMatchObject({ code: 0, output: expect.stringContaining('1 of 1') as unknown })
  expect(listed.output).toContain(id)
  expect(listed.output).not.toMatch(/[^\P{C}\n]/u)
  expect((await runScript('show', id)).output).toContain('"status": "open"')
  expect((await runScript('drop', '--reason', 'all of them')).output).toContain('say which')
  expect(await runScript('drop', ...filter)).toMatchObject({
    code: 2,
    output: expect.stringContaining('--reason is needed') as unknown,
  })
  const dropped = await runScript('drop', ...filter, '--reason', 'of no use')
  expect(dropped).toEqual({ code: 0, output: '1 dropped\n' })
  expect((await runScript('show', id)).output).toContain('"reason": "of no use"')
})

test('scripts/redrive sends what stands behind a whole round that the topic refuses', async () => {
  const large = Array.from({ length: 100 }, (_unused, index): [string, Buffer] => [
    `large ${index}`,
    randomBytes(600),
  ])
  await buryAll(large, narrow)
  await new Promise((resolve) => setTimeout(resolve, 2)) // A later millisecond.
  const [last = ''] = await buryAll([['small', Buffer.from('x')]], narrow)
  let { code, output } = await runScript('--topic', narrow)
  // On a busy machine a hundred refusals can outlast the send timeout: then nothing was sent.
  while (output.includes('QUEUE_UNAVAILABLE')) ({ code, output } = await runScript('--topic', narrow))
  expect(output.match(/narrow.topic refuses it/g)).toHaveLength(100)
  expect(output).toContain('0 sent again\n1 sent again\n')
  expect(code).toBe(1)
  const sent = await readLog(kafka, `${api.topicPrefix}${narrow}`)
  expect(sent.map(({ key }) => key)).toEqual(['small'])
  expect((await post(`${last}/redrive`)).json['status']).toBe('redriven')
})

import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import { describe, expect, test } from '@jest/globals'
import { randomName, testInfrastructure } from '#tests/support/infrastructure.ts'
import { createLog } from '../log.ts'
import { createRegistryCodec } from './registry-codec.ts'

const { registryUrl } = testInfrastructure()
const log = createLog('codec-test', 'silent')
const registry = new SchemaRegistry({ host: registryUrl })

const id = { name: 'id', type: 'string' }
const tokens = { name: 'tokens', type: ['null', 'long'], default: null }
const tags = { name: 'tags', type: { type: 'array', items: 'string' }, default: [] }
const call = (...fields: object[]) => ({ type: 'record', name: 'Call', namespace: 'test', fields })
const older = call(id, tokens)
const newer = call(id, tokens, tags, { name: 'tier', type: 'string', default: 'free' })

async function registered(schema: object, subject = `${randomName('codec')}-value`): Promise<string> {
  await registry.register(schema as never, { subject, compatibility: 'BACKWARD_TRANSITIVE' as never })
  return subject
}

function codecOf<T>(subject: string, schema: object) {
  return createRegistryCodec({ url: registryUrl, log }).codec<T>({ subject, schema })
}

interface Call {
  id: string
  tokens: number | null
}

describe('the registry codec', () => {
  test('writes the wire format that other clients read, and reads theirs', async () => {
    const subject = await registered(older)
    const ours = codecOf<Call>(subject, older)
    const value = { id: 'req_1', tokens: 12 }
    const bytes = await ours.encode(value)
    expect(await registry.decode(bytes)).toEqual(value)
    expect(await ours.decode(await registry.encode(bytes.readInt32BE(1), value))).toEqual(value)
  })

  test('gives a newer reader the defaults of what an older writer did not know', async () => {
    const subject = await registered(older)
    const bytes = await codecOf<Call>(subject, older).encode({ id: 'req_1', tokens: null })
    await registered(newer, subject)
    expect(await codecOf(subject, newer).decode(bytes)).toEqual({
      id: 'req_1',
      tokens: null,
      tags: [],
      tier: 'free',
    })
  })

  test('lets an older reader pass over what a newer writer added, and an older writer go on', async () => {
    const subject = await registered(older)
    await registered(newer, subject)
    const before = codecOf<Call>(subject, older)
    const bytes = await codecOf(subject, newer).encode({ id: 'req_1', tokens: 3, tags: ['a'], tier: 'pro' })
    expect(await before.decode(bytes)).toEqual({ id: 'req_1', tokens: 3 })
    expect(await before.decode(await before.encode({ id: 'req_2', tokens: 4 }))).toEqual({
      id: 'req_2',
      tokens: 4,
    })
  })

  test('writes values that are larger than its workspace', async () => {
    const codec = codecOf<Call>(await registered(older), older)
    for (const length of [0, 65_530, 65_531, 65_536, 3_000_000]) {
      const value = { id: 'x'.repeat(length), tokens: length }
      expect(await codec.decode(await codec.encode(value))).toEqual(value)
    }
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['JSON', Buffer.from('{"id":"req_1"}')],
    ['an id that the registry does not know', Buffer.from('007ffffff000', 'hex')],
  ])('calls %s undecodable', async (_name, bytes) => {
    const codec = codecOf<Call>(await registered(older), older)
    await expect(codec.decode(bytes)).rejects.toMatchObject({ code: 'UNDECODABLE', retry: 'never' })
  })

  test('calls cut and padded values undecodable', async () => {
    const codec = codecOf<Call>(await registered(older), older)
    const bytes = await codec.encode({ id: 'req_1', tokens: 12 })
    const damaged = [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from('x')])]
    for (const value of damaged)
      await expect(codec.decode(value)).rejects.toMatchObject({ code: 'UNDECODABLE' })
  })

  test('calls a value of another kind undecodable', async () => {
    const other = {
      type: 'record',
      name: 'Other',
      namespace: 'test',
      fields: [{ name: 'number', type: 'int' }],
    }
    const bytes = await codecOf(await registered(other), other).encode({ number: 1 })
    const codec = codecOf<Call>(await registered(older), older)
    await expect(codec.decode(bytes)).rejects.toMatchObject({ code: 'UNDECODABLE' })
  })

  test.each([
    ['a wrong type', { id: 5, tokens: null }, 'id'],
    ['a long that Avro would write as another', { id: 'req_1', tokens: 2 ** 52 + 1 }, 'tokens'],
  ])('refuses %s and names the field', async (_name, value, field) => {
    const codec = codecOf<unknown>(await registered(older), older)
    const problem = {
      code: 'UNENCODABLE',
      retry: 'never',
      message: expect.stringContaining(field) as unknown,
    }
    await expect(codec.encode(value)).rejects.toMatchObject(problem)
  })

  test('decodes without waiting once it has decoded what was written in the same schema', async () => {
    const subject = await registered(older)
    const writer = codecOf<Call>(subject, older)
    const value = { id: 'req_1', tokens: 12 }
    const bytes = await writer.encode(value)
    await registered(newer, subject)
    const codec = codecOf<object>(subject, newer)
    expect(codec.decodeNow?.(bytes)).toBeUndefined()
    const decoded = await codec.decode(bytes)
    expect(decoded).toEqual({ ...value, tags: [], tier: 'free' })
    expect(codec.decodeNow?.(bytes)).toEqual(decoded)
    const ofAnotherSchema = await codec.encode({ ...value, tags: ['a'], tier: 'pro' })
    const damaged = [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from('x')])]
    const unreadable = [...damaged, Buffer.alloc(0), Buffer.from('{"id":"req_1"}'), ofAnotherSchema]
    expect(unreadable.map((each) => codec.decodeNow?.(each))).toEqual(unreadable.map(() => undefined))
    // What could not be read has not spoiled what can.
    expect(codec.decodeNow?.(bytes)).toEqual(decoded)
  })

  test('waits for a schema that is not registered yet', async () => {
    const subject = `${randomName('codec')}-value`
    const codec = codecOf<Call>(subject, older)
    const value = { id: 'req_1', tokens: null }
    await expect(codec.encode(value)).rejects.toMatchObject({ code: 'SCHEMA_NOT_REGISTERED', retry: 'later' })
    await registered(older, subject)
    expect(await codec.decode(await codec.encode(value))).toEqual(value)
  })
})

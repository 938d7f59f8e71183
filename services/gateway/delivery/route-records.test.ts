import { describe, expect, test } from '@jest/globals'
import { TransientError } from '#runtime/errors.ts'
import type { PostRecords, Verdict } from './post-records.ts'
import { createRoutedDelivery, createRouteOf, projectNamedBy } from './route-records.ts'

const taken: PostRecords = (records) => Promise.resolve(records.map(() => ({ kind: 'taken' })))
const asOwn: PostRecords = (records) => taken(records)
const asOperator: PostRecords = (records) => taken(records)
const record = (id: string, projectId?: string) =>
  Buffer.from(
    `{"id":"${id}",${projectId === undefined ? '' : `"project_id":"${projectId}",`}"request_body":{}}`,
  )

test.each([
  ['{"id":"req_1","project_id":"prj_1","source":"gateway"}', 'prj_1'],
  ['{"id":"req_1","source":"gateway","metadata":{"id":"x","project_id":"prj_2"}}', undefined],
  ['{"source":"gateway","request_body":{"id":"req_1","project_id":"prj_3"}}', undefined],
])('%s names %s', (json, projectId) => {
  expect(projectNamedBy(Buffer.from(json))).toBe(projectId)
})

describe('a record goes', () => {
  const withKey = { ownProject: () => 'prj_own', asOwn }
  const unasked = { ownProject: () => undefined, asOwn }
  test.each<[string, Buffer, Parameters<typeof createRouteOf>[0], PostRecords | null]>([
    ["with the key, of the key's project", record('a', 'prj_own'), { ...withKey, asOperator }, asOwn],
    ['with the key, of no project', record('a'), { ...withKey, asOperator }, asOwn],
    ['as the operator, of another', record('a', 'prj_2'), { ...withKey, asOperator }, asOperator],
    ['nowhere, of another', record('a', 'prj_2'), { ...withKey, asOperator: undefined }, null],
    [
      'with the key while it is not known whose it is',
      record('a', 'prj_2'),
      { ...unasked, asOperator: undefined },
      asOwn,
    ],
    [
      'nowhere, of no project, without a key',
      record('a'),
      { ownProject: undefined, asOwn: undefined, asOperator },
      null,
    ],
  ])('%s', (_name, given, routes, expected) => {
    expect(createRouteOf(routes)(given)).toBe(expected)
  })
})

test('a route that fails holds up its own records; when all fail, it is said', async () => {
  const away = new TransientError('BACKEND_UNAVAILABLE', 'away')
  const fails: PostRecords = () => Promise.reject(away)
  const routes = new Map<string, PostRecords | null>([
    ['a', taken],
    ['b', fails],
    ['c', null],
  ])
  const deliver = createRoutedDelivery((given) => routes.get(String(given)) ?? null)
  const kinds = async (...names: string[]) =>
    (await deliver(names.map((name) => Buffer.from(name)))).map(({ kind }: Verdict) => kind)
  expect(await kinds('b', 'a', 'c', 'a')).toEqual(['later', 'taken', 'unsendable', 'taken'])
  await expect(kinds('b', 'b')).rejects.toBe(away)
})

import { describe, expect, test } from '@jest/globals'
import type { Authorizer } from './authorize.ts'
import { createDropped, findCaller } from './find-caller.ts'

const callerOf = (projectId: string) => ({ projectId, isEphemeral: false })
const answers: Readonly<Record<string, ReturnType<Authorizer>>> = {
  ours: callerOf('prj_1'),
  other: callerOf('prj_2'),
  asked: Promise.resolve(callerOf('prj_3')),
  away: Promise.resolve('unavailable'),
}
const authorize: Authorizer = (key) => answers[key] ?? 'unknown'

const one = callerOf('prj_1')
test.each<[name: string, raw: string[], caller: unknown, heldBy: string[]]>([
  ['nothing', ['Host', 'h'], 'unknown', []],
  ['a bearer token', ['Authorization', 'Bearer ours'], one, ['authorization']],
  ["Anthropic's header", ['X-Api-Key', 'ours'], one, ['x-api-key']],
  ["Azure's", ['api-key', 'ours'], one, ['api-key']],
  ["Google's", ['x-goog-api-key', 'ours'], one, ['x-goog-api-key']],
  [
    "ours, beside a server's own token",
    ['X-Service-Key', 'ours', 'Authorization', 'Bearer t'],
    one,
    ['x-service-key'],
  ],
  [
    'a subscription beside our key',
    ['authorization', 'Bearer theirs', 'x-api-key', 'ours'],
    one,
    ['x-api-key'],
  ],
  [
    'the same key twice, however the scheme is written',
    ['authorization', 'bearer  ours ', 'x-api-key', 'ours'],
    one,
    ['authorization', 'x-api-key'],
  ],
  ['another scheme', ['authorization', 'Basic ours'], 'unknown', []],
  [
    'a key that is asked about',
    ['x-api-key', 'asked', 'api-key', 'theirs'],
    callerOf('prj_3'),
    ['x-api-key'],
  ],
  ['two keys of ours', ['authorization', 'Bearer ours', 'x-api-key', 'other'], 'unknown', []],
  ['two keys of ours, one asked about', ['api-key', 'ours', 'x-api-key', 'asked'], 'unknown', []],
  ['a header that comes twice', ['x-api-key', 'ours', 'X-API-Key', 'ours'], 'unknown', []],
  ['Authorization twice', ['authorization', 'Bearer ours', 'Authorization', 'Bearer x'], 'unknown', []],
  ['keys that are none', ['authorization', 'Bearer x', 'x-api-key', 'y'], 'unknown', []],
  ['a scheme in a bare header', ['x-api-key', 'Bearer ours'], 'unknown', []],
  ['a key that cannot be checked', ['x-api-key', 'away', 'api-key', 'y'], 'unavailable', []],
])('%s', async (_name, raw, caller, heldBy) => {
  const found = await findCaller(raw, authorize)
  expect(found.caller).toEqual(caller)
  if (typeof caller !== 'string') expect([...found.heldBy].toSorted()).toEqual(heldBy)
})

test.each<[name: string, raw: string[], query: string[], caller: unknown, heldBy: string[]]>([
  ['our key in the query', [], ['ours'], one, ['?key']],
  ['the same in a header', ['x-goog-api-key', 'ours'], ['ours'], one, ['?key', 'x-goog-api-key']],
  ["the provider's beside ours", ['x-goog-api-key', 'ours'], ['theirs'], one, ['x-goog-api-key']],
  ['another of ours in a header', ['x-goog-api-key', 'ours'], ['other'], 'unknown', []],
  ['twice in the query', [], ['ours', 'ours'], 'unknown', []],
  ['a header that comes twice', ['x-api-key', 'ours', 'X-API-Key', 'ours'], ['ours'], 'unknown', []],
])('with a query: %s', async (_name, raw, query, caller, heldBy) => {
  const found = await findCaller(raw, authorize, query)
  expect(found.caller).toEqual(caller)
  expect([...found.heldBy].toSorted()).toEqual(heldBy)
})

describe('headers that the provider does not get', () => {
  const heldBy = (raw: string[]) => {
    const found = findCaller(raw, authorize)
    if (found instanceof Promise) throw new Error('asked')
    return found.heldBy
  }
  const bearer = ['authorization', 'Bearer ours']
  const bare = ['x-api-key', 'ours']
  test.each<[name: string, replaces: string[] | undefined, raw: string[], dropped: string[]]>([
    ['none: Authorization passes, as the specification has it', undefined, bearer, []],
    ['our key in a header of its own, which the provider would take for its', undefined, bare, ['x-api-key']],
    ['both, without credentials', undefined, [...bearer, ...bare], ['x-api-key']],
    ['ours and what ours replaces', ['api-key'], bearer, ['api-key', 'authorization']],
    ["another provider's header stays", ['api-key'], bare, ['api-key', 'x-api-key']],
  ])('%s', (_name, replaces, raw, dropped) => {
    const names = createDropped(replaces === undefined ? undefined : new Set(replaces))(heldBy(raw))
    expect([...names].toSorted()).toEqual(dropped)
  })

  test.each<[name: string, replaces: string[] | undefined, raw: string[], dropped: string[]]>([
    [
      "the user's own token passes",
      undefined,
      ['x-service-key', 'ours', 'authorization', 'Bearer theirs'],
      ['x-service-key'],
    ],
    ['our key does not, wherever it is', undefined, bearer, ['authorization']],
    ['what ours replaces', ['api-key'], bearer, ['api-key', 'authorization']],
  ])('to an MCP server: %s', (_name, replaces, raw, dropped) => {
    const names = createDropped(replaces === undefined ? undefined : new Set(replaces), 'mcp')(heldBy(raw))
    expect([...names].toSorted()).toEqual(dropped)
  })
})

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { boundOfParts } from '../json.ts'
import { countParts, scanElements, scanMembers } from './scan-json.ts'

const textOf = (json: string, name: string) => scanMembers(Buffer.from(json)).get(name)?.bytes.toString()

describe('members of a JSON object', () => {
  test.each([
    ['big integers', '{"request_body":{"n":12345678901234567890}}', '{"n":12345678901234567890}'],
    ['spaces and escapes', '{ "request_body" : { "a" : "\\u0041\\/" } }', '{ "a" : "\\u0041\\/" }'],
    ['quotes and braces in strings', '{"request_body":{"a":"}\\"]\\\\"}}', '{"a":"}\\"]\\\\"}'],
    ['an escaped name', '{"request\\u005fbody":[1,2]}', '[1,2]'],
    ['a repeated name', '{"request_body":1,"request_body":2}', '2'],
    ['a plain value at the end', '{"a":null,"request_body":-1.5e3}', '-1.5e3'],
    ['a plain value before a space', '{"request_body":true ,"a":1}', 'true'],
    ['an empty string', '{"request_body":"","a":1}', '""'],
  ])('keep %s', (_name, json, expected) => {
    expect(textOf(json, 'request_body')).toBe(expected)
  })

  test('of nothing are none', () => {
    expect(scanMembers(Buffer.from(' { } ')).size).toBe(0)
    expect(scanElements(Buffer.from('[ ]'))).toEqual([])
  })

  test('know how deep they go', () => {
    const depthOf = (value: string) => scanMembers(Buffer.from(`{"a":${value}}`)).get('a')?.depth
    expect([depthOf('1'), depthOf('"[["'), depthOf('{}'), depthOf('[{"a":[]},[]]')]).toEqual([0, 0, 1, 3])
  })

  test('read back as JSON.parse reads the whole, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (object, indent) => {
        const json = JSON.stringify(object, null, indent)
        const parsed = JSON.parse(json) as Record<string, unknown>
        const members = scanMembers(Buffer.from(json))
        expect([...members.keys()].sort()).toEqual(Object.keys(parsed).sort())
        for (const [name, { bytes }] of members) expect(JSON.parse(bytes.toString())).toEqual(parsed[name])
      }),
    )
  })

  test('and elements of arrays too', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.nat(3), (array, indent) => {
        const json = JSON.stringify(array, null, indent)
        const elements = scanElements(Buffer.from(json)).map(
          (bytes) => JSON.parse(bytes.toString()) as unknown,
        )
        expect(elements).toEqual(JSON.parse(json))
      }),
    )
  })
})

test('parts of a JSON text are its objects, arrays, strings and names', () => {
  const partsOf = (value: unknown): number => {
    if (typeof value === 'string') return 1
    if (typeof value !== 'object' || value === null) return 0
    const names = Array.isArray(value) ? 0 : Object.keys(value).length
    return Object.values(value).reduce<number>((sum, member) => sum + partsOf(member), 1 + names)
  }
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value)
      const parts = countParts(Buffer.from(json))
      expect(parts).toBe(partsOf(value))
      expect(boundOfParts(json)).toBeGreaterThanOrEqual(parts)
    }),
  )
  expect(countParts(Buffer.from('[{},{},{},{}]'), 2)).toBe(3)
})

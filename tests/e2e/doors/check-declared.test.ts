import { expect, test } from '@jest/globals'
import { checkDeclared } from './check-declared.ts'
import { compare } from './compare.ts'
import { conversations } from './conversations.ts'
import { unknownDoors } from './differences.ts'
import { doors } from './doors.ts'

const door = doors.find(({ by }) => by === 'vercel-legacy')
const { title, by } = door ?? { title: '', by: '' }
const status = conversations.map(({ name }) => ({
  conversation: name,
  field: 'status_code' as const,
  gateway: 200,
  door: null,
}))
const thoughts = { conversation: 'reasoning', field: 'thoughts' as const, gateway: true, door: false }
const asDeclared = [...status, thoughts]

test('declared differences that exist are accepted', () => {
  expect(() => checkDeclared({ title, by }, asDeclared)).not.toThrow()
})

test('a difference that nobody declared fails', () => {
  const more = { conversation: 'plain', field: 'answer' as const, gateway: 'A gate', door: '' }
  expect(() => checkDeclared({ title, by }, [...asDeclared, more])).toThrow(/answer of plain.*"" instead of/)
})

test('a declared difference that is gone fails', () => {
  expect(() => checkDeclared({ title, by }, status)).toThrow(/no longer so: thoughts of reasoning/)
})

test('a call that is recorded twice, or never, is a difference', () => {
  const one = { model: 'm' } as never
  for (const records of [[], [one, one]])
    expect(compare(new Map([['plain', [one]]]), new Map([['plain', records]]), { rewrites: false })).toEqual([
      { conversation: 'plain', field: 'recorded', gateway: 1, door: records.length },
    ])
})

test('every name in the list is a door', () => {
  expect(unknownDoors()).toEqual([])
  expect(conversations).toHaveLength(12)
})

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { newId } from '#schemas/ids.ts'
import { envelope, readPaging } from './paging.ts'

describe('paging', () => {
  test.each([
    ['nothing', {}, { limit: 50, offset: 0, after: null, page: 1, form: 'items' }],
    ['a page', { page: 3, page_size: 20 }, { limit: 20, offset: 40, after: null, page: 3, form: 'items' }],
    ['the deepest page', { page: 201 }, { limit: 50, offset: 10_000, after: null, page: 201, form: 'items' }],
    ['a limit', { limit: 7 }, { limit: 7, offset: 0, after: null, page: 1, form: 'data' }],
  ])('by %s', (_name, query, expected) => {
    expect(readPaging(query, 'request')).toEqual(expected)
  })

  test.each([
    ['limit and a page size', { limit: 1, page_size: 2 }, 'page_size'],
    ['cursor and a page', { cursor: 'x', page: 2 }, 'page'],
    ['a page too deep', { page: 1_000 }, 'page'],
    [
      'a cursor of no project',
      { cursor: Buffer.from(`${newId('request')} x`).toString('base64url') },
      'cursor',
    ],
    [
      'a cursor with something behind it',
      { cursor: Buffer.from(`${newId('request')} ${newId('project')} x`).toString('base64url') },
      'cursor',
    ],
    ["another list's cursor", { cursor: Buffer.from(newId('score')).toString('base64url') }, 'cursor'],
  ])('refuses %s', (_name, query, path) => {
    expect(() => readPaging(query, 'request')).toThrow(`${path}: `)
  })

  test.each([
    [2, { has_more: false }, { next_cursor: null }],
    [3, { has_more: true }, { next_cursor: expect.any(String) }],
  ])('of two rows a page, %i read rows say whether there are more', (count, asData, asItems) => {
    const rows = Array.from({ length: count }, () => ({ id: newId('request') }))
    const counted = { total: count, isExact: true }
    expect(envelope(readPaging({ limit: 2 }, 'request'), rows, counted)).toMatchObject(asData)
    expect(envelope(readPaging({ page_size: 2 }, 'request'), rows, counted)).toMatchObject(asItems)
  })

  test('by cursor meets every row once, whatever the page size', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.integer({ min: 1, max: 7 }), (count, pageSize) => {
        const rows = Array.from({ length: count }, (_, index) => ({
          id: newId('request', 1_790_000_000_000 - index),
        }))
        const met: string[] = []
        let cursor: string | undefined
        do {
          const paging = readPaging(
            { page_size: pageSize, ...(cursor === undefined ? {} : { cursor }) },
            'request',
          )
          const from = paging.after === null ? 0 : rows.findIndex(({ id }) => id === paging.after) + 1
          const page = envelope(paging, rows.slice(from, from + paging.limit + 1), {
            total: count,
            isExact: true,
          }) as {
            items: { id: string }[]
            next_cursor: string | null
          }
          met.push(...page.items.map(({ id }) => id))
          cursor = page.next_cursor ?? undefined
        } while (cursor !== undefined)
        expect(met).toEqual(rows.map(({ id }) => id))
      }),
    )
  })
})

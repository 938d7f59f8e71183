import { describe, expect, test } from '@jest/globals'
import { encodeRows, type CopyColumn } from './copy-rows.ts'

const header = '5047434f50590aff0d0a000000000000000000'
const hex = <Row>(columns: CopyColumn<Row>[], rows: Row[]) =>
  Buffer.concat([...encodeRows(columns, rows)]).toString('hex')

describe('binary COPY', () => {
  test.each<[name: string, column: CopyColumn<null>, field: string]>([
    ['null', { name: 'c', type: 'text', value: () => null }, 'ffffffff'],
    ['text as UTF-8', { name: 'c', type: 'text', value: () => 'é' }, '00000002c3a9'],
    ['jsonb with its version', { name: 'c', type: 'jsonb', value: () => '{}' }, '00000003017b7d'],
    ['int4', { name: 'c', type: 'int4', value: () => -2 }, '00000004fffffffe'],
    ['int8', { name: 'c', type: 'int8', value: () => 2 ** 40 }, '000000080000010000000000'],
    ['float8', { name: 'c', type: 'float8', value: () => 1.5 }, '000000083ff8000000000000'],
    ['bool', { name: 'c', type: 'bool', value: () => true }, '0000000101'],
    [
      'time from 2000 on, in microseconds',
      { name: 'c', type: 'timestamptz', value: () => 946_684_800_001 },
      '0000000800000000000003e8',
    ],
    [
      'uuid',
      { name: 'c', type: 'uuid', value: () => '018f0000-0000-7000-8000-000000000001' },
      '00000010018f0000000070008000000000000001',
    ],
    ['bytea', { name: 'c', type: 'bytea', value: () => Buffer.from([0, 255]) }, '0000000200ff'],
  ])('%s', (_name, column, field) => {
    expect(hex([column], [null])).toBe(`${header}0001${field}ffff`)
  })

  test('keeps order and bytes over many chunks', () => {
    const columns: CopyColumn<Buffer>[] = [
      { name: 'a', type: 'bytea', value: (row) => row },
      { name: 'b', type: 'int4', value: (row) => row.length },
    ]
    const rows = [10, 70_000, 16_384, 16_383, 0, 40_000].map((length, index) => Buffer.alloc(length, index))
    const expected = rows.map((row) => {
      const size = row.length.toString(16).padStart(8, '0')
      return `0002${size}${row.toString('hex')}00000004${size}`
    })
    expect(hex(columns, rows)).toBe(`${header}${expected.join('')}ffff`)
  })

  test('wherever a chunk ends, the bytes are the same', () => {
    const uuid = '018f0000-0000-7000-8000-000000000001'
    const field = (bytes: Buffer) => {
      const size = Buffer.alloc(4)
      size.writeInt32BE(bytes.length)
      return Buffer.concat([size, bytes])
    }
    const rest = Buffer.concat([
      field(Buffer.from(uuid.replaceAll('-', ''), 'hex')),
      field(Buffer.of(1)),
      field(Buffer.from('é'.repeat(300))),
    ])
    const columns: CopyColumn<number>[] = [
      { name: 'a', type: 'bytea', value: (length) => Buffer.alloc(length, 7) },
      { name: 'b', type: 'uuid', value: () => uuid },
      { name: 'c', type: 'bool', value: () => true },
      { name: 'd', type: 'text', value: () => 'é'.repeat(300) },
    ]
    // Three of the longest that are copied and one that leaves so many bytes of the first chunk.
    for (let left = -4; left < 1_400; left += left < 40 ? 1 : 7) {
      const rows = [16_383, 16_383, 16_383]
      rows.push(64 * 1024 - left - 4 * 6 - 3 * rest.length - 3 * 16_383)
      const expected = rows.map((length) =>
        Buffer.concat([Buffer.from([0, 4]), field(Buffer.alloc(length, 7)), rest]),
      )
      const body = Buffer.concat([...encodeRows(columns, rows)]).subarray(header.length / 2, -2)
      expect({ left, isSame: body.equals(Buffer.concat(expected)) }).toEqual({ left, isSame: true })
    }
  })

  test('refuses what is no UUID', () => {
    expect(() => hex([{ name: 'id', type: 'uuid', value: () => 'no' }], [null])).toThrow(
      expect.objectContaining({ code: 'UNSTORABLE' }),
    )
  })

  test('names the column of a value that does not fit', () => {
    const columns: CopyColumn<number>[] = [{ name: 'status_code', type: 'int4', value: (row) => row }]
    expect(() => hex(columns, [2 ** 31])).toThrow(
      expect.objectContaining({ code: 'UNSTORABLE', message: expect.stringContaining('status_code') }),
    )
  })
})

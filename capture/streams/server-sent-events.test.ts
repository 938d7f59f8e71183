import { expect, test } from '@jest/globals'
import { parseServerSentEvents } from './server-sent-events.ts'

test.each([
  ['lines end in line feeds', '\n'],
  ['lines end in carriage returns', '\r'],
  ['lines end in both', '\r\n'],
])('events are read where %s, behind a byte order mark; a name is of one event alone', (_name, end) => {
  const lines = ['event: first', 'data: a', 'data: b', '', 'data:c', '', 'data: cut off']
  expect(parseServerSentEvents(`\ufeff${lines.join(end)}`)).toEqual([
    { name: 'first', data: 'a\nb' },
    { name: '', data: 'c' },
  ])
})

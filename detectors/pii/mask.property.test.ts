import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { detectCall } from '../testing/detect-call.ts'
import { createPiiDetector, findIdentifiers, maskIdentifier, maskIdentifiers } from './detect-pii.ts'

/** Values with their kind, and words that make each a finding. */
const values = [
  ['payment_card', '4012 8888 8888 1881', 'paid by card '],
  ['iban', 'DE89370400440532013000', 'to '],
  ['email_address', 'ina.falk@posteo.de', 'mail '],
  ['phone_number', '+49 30 23456789', 'ring '],
  ['secret', 'Walnut!58-crow', 'the password is '],
  ['street_address', '14 Lime Walk', 'she lives at '],
  ['birth_date', '03/05/1981', 'date of birth: '],
  ['national_id', '536-22-8726', 'SSN '],
] as const
const filler = fc.constantFrom('and then', 'ß…', '日本', '\u200b', '😀 so', 'on Monday.', '\n', 'été', '—')
const pieces = fc.array(fc.tuple(filler, fc.constantFrom(...values), filler), { minLength: 1, maxLength: 4 })

test('each span is exactly the value, in order, whatever stands around it', () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const text = given
        .map(([before, [, value, lead], after]) => `${before} ${lead}${value} ${after}`)
        .join('; ')
      const found = findIdentifiers(text)
      expect(found.map(({ kind, start, end }) => [kind, text.slice(start, end)])).toEqual(
        given.map(([, [kind, value]]) => [kind, value]),
      )
      const masks = given.map(
        ([before, [kind, value, lead], after]) => `${before} ${lead}${maskIdentifier(kind, value)} ${after}`,
      )
      expect(maskIdentifiers(text)).toBe(masks.join('; '))
      expect(findIdentifiers(text)).toEqual(found)
    }),
  )
})

test('evidence points to the value in its string', () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const text = given
        .map(([before, [, value, lead], after]) => `${before} ${lead}${value} ${after}`)
        .join('; ')
      const finding = detectCall(createPiiDetector, { messages: [{ role: 'user', content: text }] })
      const evidence = 'evidence' in finding ? finding.evidence : []
      expect(evidence.map(({ start, end }) => text.slice(start, end))).toEqual(
        given.map(([, [, value]]) => value),
      )
    }),
  )
})

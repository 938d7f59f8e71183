import { describe, expect, test } from '@jest/globals'
import { detectCall } from '../testing/detect-call.ts'
import { parseBody, readCall } from '../call-text.ts'
import { createPiiDetector } from './detect-pii.ts'

describe('the finding', () => {
  const find = (prompt: string) => {
    const detector = createPiiDetector()
    for (const text of readCall(parseBody(JSON.stringify({ prompt })), null).texts) detector.read(text)
    return detector.finding()
  }
  const found = (prompt: string) => {
    const finding = find(prompt)
    if ('reason' in finding) throw new Error('nothing found')
    return finding
  }

  test('never repeats a value in full', () => {
    const secrets = [
      '4111111111111111',
      'jane.doe@acme.io',
      '536-22-8726',
      '+442079460958',
      'AKIAIOSFODNN7EXAMPLE',
    ]
    const { rationale, contentFreeRationale, value } = found(`Mine are: ${secrets.join(' ; ')}`)
    expect(value).toBe(5)
    for (const secret of secrets) expect(rationale).not.toContain(secret)
    expect(rationale).toContain('•••1111')
    expect(contentFreeRationale).toMatch(/^Found /)
    expect(contentFreeRationale).not.toMatch(/1111|acme/)
  })

  test.each(['hello there', 'What is the capital of France?', 'Please summarise The Lord of the Rings.'])(
    'is safe without identifiers: %s',
    (text) => {
      expect(find(text)).toMatchObject({ value: 1, evidence: [] })
    },
  )

  test.each([
    'My name is Sam.',
    'Dr. Watson was here',
    'deliver it to 221 Baker Street',
    'Bahnhofstraße 5',
    'he met Priya Raman on Friday',
    'she was born in 1981',
    'routing 021000021 account 1234567890',
    'the password is 12345',
  ])('leaves to a reader what may name a person: %s', (text) => {
    expect(find(text)).toMatchObject({ reason: 'detectors_undecided' })
  })

  test.each([
    ['an empty request', {}],
    ['a picture alone', { content: `data:image/png;base64,${'iVBORw0KGgo'.repeat(9)}` }],
    ['blanks', { prompt: ' \n' }],
  ])('vouches for nothing where nothing was read: %s', (_name, request) => {
    expect(detectCall(createPiiDetector, request)).toMatchObject({ reason: 'no_text' })
  })

  test('reads a tool’s arguments, its numbers and what the protocol has names for', () => {
    const given = { card: 4111111111111111, user: 'jane.doe@acme.io', at: 1700000000000 }
    const finding = detectCall(createPiiDetector, { type: 'mcp_tool_call', arguments: given })
    expect(finding).toMatchObject({
      value: 5,
      evidence: [
        { pointer: '/arguments/card', kind: 'payment_card' },
        { pointer: '/arguments/user', kind: 'email_address' },
      ],
    })
  })

  test('knows by its key what a value is', () => {
    const given = { db_password: 'tR0ub4dor&3x9', people: [{ ssn: '536228726', phoneNumber: 4156822671 }] }
    const body = { content: [{ type: 'tool_use', id: 't', name: 'login', input: given }] }
    expect(detectCall(createPiiDetector, { prompt: 'go' }, body)).toMatchObject({
      value: 5,
      evidence: [
        { pointer: '/content/0/input/db_password', start: 0, end: 13, kind: 'secret' },
        { pointer: '/content/0/input/people/0/ssn', start: 0, end: 9, kind: 'national_id' },
        { pointer: '/content/0/input/people/0/phoneNumber', start: 0, end: 10, kind: 'phone_number' },
      ],
    })
  })

  test('counts once what stands where two pieces of a long text meet', () => {
    const filler = 'x '.repeat(64_000)
    const prompt = `${filler}jane.doe@acme.io ${filler}`
    expect(found(prompt).evidence).toEqual([
      {
        part: 'request_body',
        pointer: '/prompt',
        start: filler.length,
        end: filler.length + 16,
        kind: 'email_address',
      },
    ])
  })

  test('calls an estimate what rests on the words around a datum, and nothing that has its own form', () => {
    expect(find('she lives at 14 Lime Walk')).toMatchObject({ value: 4, isEstimate: true })
    expect(find('she lives at 14 Lime Walk, mail ina.falk@posteo.de')).not.toHaveProperty('isEstimate')
  })

  test('ties the address in one field of a record to the name in another', () => {
    const given = { customerName: 'Ina Falk', street: '14 Lime Walk' }
    const content = [{ type: 'tool_use', id: 't', name: 'ship', input: given }]
    expect(detectCall(createPiiDetector, { prompt: 'go' }, { content })).toMatchObject({
      evidence: [{ pointer: '/content/0/input/street', start: 0, end: 12, kind: 'street_address' }],
    })
    const shop = [{ type: 'tool_use', id: 't', name: 'ship', input: { street: '14 Lime Walk' } }]
    expect(detectCall(createPiiDetector, { prompt: 'go' }, { content: shop })).toMatchObject({
      reason: 'detectors_undecided',
    })
  })

  test.each(['Vă rog să îmi scrieți o scrisoare pentru el și pentru ea', 'मुझे यह पत्र हिंदी में लिखकर दीजिए'])(
    'does not vouch for a language that it does not cover: %s',
    (text) => {
      expect(find(text)).toMatchObject({ reason: 'language_not_covered' })
    },
  )
})

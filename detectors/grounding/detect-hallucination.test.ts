import { describe, expect, test } from '@jest/globals'
import { detectCall } from '../testing/detect-call.ts'
import { createHallucinationDetector } from './detect-hallucination.ts'

const source =
  'The bridge over the river was built in 1932 by a company from Lyon, and it was closed for repairs in the spring of 1998.'
const find = (answer: string, context = source, asked = 'When was the bridge built?') =>
  detectCall(
    createHallucinationDetector,
    {
      messages: [
        ...(context === '' ? [] : [{ role: 'tool', content: context }]),
        { role: 'user', content: asked },
      ],
    },
    { choices: [{ message: { role: 'assistant', content: answer }, finish_reason: 'stop' }] },
  )
const invented =
  'It has twelve golden towers, was designed for the emperor by an Italian painter and attracts millions of tourists every summer.'

test('an answer that has nothing of its source is unsafe, with its place', () => {
  expect(find(invented)).toMatchObject({
    value: 4,
    evidence: [
      { pointer: '/choices/0/message/content', start: 0, end: invented.length, kind: 'unsupported' },
    ],
  })
})

test.each([
  ['a supported one', 'The bridge was built in 1932 by a company from Lyon.'],
  ['one that is wrong in a word', 'The bridge was built in 1923 by a company from Lyon.'],
  ['one that declines', `I am sorry, there is nothing about that. ${invented}`],
  ['a courtesy', 'Glad to be of help!'],
])('left to a reader: %s', (_name, answer) => {
  expect(find(answer)).toMatchObject({ reason: 'detectors_undecided' })
})

test('an answer in another language is not compared', () => {
  const german =
    'Zwölf goldene Türme hat sie, ein Maler aus Italien entwarf sie, und Millionen besuchen sie jeden Sommer.'
  expect(find(german)).toMatchObject({ reason: 'language_not_covered' })
})

describe('an answer in the words of its source', () => {
  const lease =
    'The tenant may keep bicycles in the cellar. Smoking on the balcony is not permitted. The heating runs from October to April, and the rent is due within 14 days.'
  const asked = 'What does the lease say?'
  test.each([
    ['denies it', 'The tenant may not keep bicycles in the cellar, and the rent is due within 14 days.'],
    ['changes a number', 'The rent is due within 21 days, and the heating runs from October to April.'],
    ['says what it denies', 'The rent is due within 14 days. Smoking on the balcony is permitted.'],
  ])('is unsafe if it %s', (_name, answer) => {
    expect(find(answer, lease, asked)).toMatchObject({
      value: 4,
      isEstimate: true,
      evidence: [{ kind: 'contradiction' }],
    })
  })

  test.each([
    ['agrees', 'The tenant may keep bicycles in the cellar, but smoking on the balcony is not permitted.'],
    ['says it in other words', 'You must not smoke on the balcony; bicycles may stand in the cellar.'],
  ])('is left to a reader if it %s', (_name, answer) => {
    expect(find(answer, lease, asked)).toMatchObject({ reason: 'detectors_undecided' })
  })

  test('is unsafe with names and numbers from nowhere', () => {
    const answer =
      'According to section 18 of the Housing Act of 1974 the Council of Leeds may fine the landlord up to 4,500 pounds for that, says Judge Hartley.'
    expect(find(answer, lease, asked)).toMatchObject({ value: 4, evidence: [{ kind: 'unsupported' }] })
  })
})

test.each([
  ['a poem', 'Now compose four lines about summer.'],
  ['advice', 'Suggest places for our holiday.'],
  ['something else', 'New topic: which cities do people love?'],
])('what was not asked about the source is left to a reader: %s', (_name, asked) => {
  expect(find(invented, source, asked)).toMatchObject({ reason: 'detectors_undecided' })
})

test('words that differ are an estimate: a judge that is asked decides', () => {
  expect(find(invented)).toMatchObject({ isEstimate: true })
})

test('what a server says of its tools is nothing to hold it against', () => {
  const tools = [{ name: 'search', description: source }]
  const request = {
    input: [
      { type: 'mcp_list_tools', tools },
      { role: 'user', content: 'Who won?' },
    ],
  }
  const response = { output: [{ type: 'message', role: 'assistant', content: [{ text: invented }] }] }
  expect(detectCall(createHallucinationDetector, request, response)).toMatchObject({ reason: 'no_context' })
})

test('without supplied text there is nothing to hold it against', () => {
  expect(find(invented, '')).toMatchObject({ reason: 'no_context' })
})

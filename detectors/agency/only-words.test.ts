import { describe, expect, test } from '@jest/globals'
import { outgrows } from '#tests/support/cpu-growth.ts'
import { detectCall } from '../testing/detect-call.ts'
import { createAgencyDetector } from './detect-agency.ts'
import { holdsOnlyWords } from './only-words.ts'

const answered = (response: unknown) => detectCall(createAgencyDetector, { input: 'clean up' }, response)
const text = 'All is clean now.'

// prettier-ignore
const answers: [string, object][] = [
  ['a transcript', {
    ...{ task: 'transcribe', language: 'english', duration: 8.47, text, usage: { type: 'duration', seconds: 9 } },
    segments: [{ id: 0, seek: 0, start: 0, end: 3.32, text, tokens: [50364, 440], temperature: 0, avg_logprob: -0.28, compression_ratio: 1.2, no_speech_prob: 0.009 }],
    words: [{ word: 'All', start: 0, end: 0.23 }],
  }],
  ['a transcript by speakers', { text, segments: [{ type: 'transcript.text.segment', id: 's', start: 0, end: 5.2, text, speaker: 'A' }] }],
  ['a moderation', {
    ...{ id: 'modr-970d409ef3bef3b70c73d8232df86e7d', model: 'omni-moderation-latest' },
    results: [{ flagged: true, categories: { harassment: false, 'self-harm': true }, category_scores: { harassment: 0.01, 'self-harm': 0.9 }, category_applied_input_types: { harassment: ['text'], 'self-harm': ['text', 'image'] } }],
  }],
  ['messages of a thread', {
    ...{ object: 'list', first_id: 'msg_1', last_id: 'msg_1', has_more: false },
    data: [{
      ...{ id: 'msg_1', object: 'thread.message', created_at: 1699016383, thread_id: 'thread_1', role: 'assistant' },
      content: [{ type: 'text', text: { value: text, annotations: [{ type: 'file_citation', text: '【1】', start_index: 0, end_index: 3, file_citation: { file_id: 'file_1' } }] } }],
      ...{ assistant_id: 'asst_1', run_id: 'run_1', attachments: [], metadata: {} },
    }],
  }],
  ['a list of models', { object: 'list', data: [{ id: 'm', object: 'model', created: 1686935002, owned_by: 'o' }] }],
  ['a list of models of Anthropic', { data: [{ type: 'model', id: 'm', display_name: 'M', created_at: '2025-02-19T00:00:00Z' }], has_more: false, first_id: 'm', last_id: 'm' }],
  ['Titan', { inputTextTokenCount: 5, results: [{ tokenCount: 9, outputText: text, completionReason: 'FINISH' }] }],
  ['AI21', {
    ...{ id: 1234, prompt: { text: 'clean up', tokens: [] } },
    completions: [{ data: { text, tokens: [{ generatedToken: { token: '▁All', logprob: -0.1, raw_logprob: -0.1 }, topTokens: null, textRange: { start: 0, end: 3 } }] }, finishReason: { reason: 'endoftext' } }],
  }],
  ['Cohere, generated', {
    ...{ id: 'a', prompt: 'clean up', meta: { api_version: { version: '1' }, billed_units: { input_tokens: 2 } } },
    generations: [{ id: 'b', text, finish_reason: 'COMPLETE', token_likelihoods: [{ token: 'All', likelihood: -0.1 }] }],
  }],
  ['Cohere, ranked', { id: 'a', results: [{ index: 3, relevance_score: 0.99, document: { text } }], meta: { api_version: { version: '2' } } }],
  ['tokens counted by Gemini', { totalTokens: 31, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 31 }] }],
  ['vectors of Gemini', { embeddings: [{ values: [0.01, -0.02] }, { values: [1] }] }],
  ['text generation', { generated_text: text, details: { finish_reason: 'length', generated_tokens: 1, seed: null, prefill: [], tokens: [{ id: 1, text: 'All', logprob: -0.3, special: false }] } }],
  ['text generation in a list', [{ generated_text: text }]],
  ['labels', [[{ label: 'POSITIVE', score: 0.99 }, { label: 'NEGATIVE', score: 0.01 }]]],
  ['entities', [{ entity_group: 'PER', score: 0.99, word: 'Mallory', start: 0, end: 7 }]],
  ['masks', [{ score: 0.9, token: 2003, token_str: 'is', sequence: text }]],
  ['pages', {
    pages: [{ index: 0, markdown: text, images: [{ id: 'img-0.jpeg', top_left_x: 1, image_base64: null }], dimensions: { dpi: 200, height: 2200, width: 1700 } }],
    ...{ model: 'mistral-ocr-2505', document_annotation: null, usage_info: { pages_processed: 1, doc_size_bytes: 9 } },
  }],
]

describe('an answer that holds only words calls no tool', () => {
  test.each(answers)('%s', (_name, response) => {
    expect(answered(response)).toMatchObject({ value: 1 })
  })

  test.each(answers)('what a function gave back: %s', (_name, response) => {
    expect(answered({ result: response })).toMatchObject({ value: 1 })
  })

  test('nor does a chat that a function gave back', () => {
    const message = { role: 'assistant', content: text, tool_calls: [] }
    expect(answered({ result: { choices: [{ message }] } })).toMatchObject({ value: 1 })
  })
})

describe('an answer with a call is none of them', () => {
  /** The answer with more members, once for each object in it. */
  const withMore = (value: unknown, more: object): unknown[] => {
    if (typeof value !== 'object' || value === null) return []
    const inner = Object.entries(value).flatMap(([name, child]) =>
      withMore(child, more).map((changed) =>
        Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed },
      ),
    )
    return Array.isArray(value) ? inner : [{ ...value, ...more }, ...inner]
  }

  const calls: [string, object][] = [
    ['by a name', { ran: { run: 'rm -rf /' } }],
    ['by its arguments', { name: 'run', arguments: { command: 'ls' } }],
    ['without any', { tool_calls: [{ id: 'c', type: 'function', function: { name: 'wipe' } }] }],
    ['by its kind', { type: 'host:shell' }],
    ['in Gemini', { functionCall: { name: 'wipe', args: {} } }],
    ['with nothing', { wipe: {} }],
    ['by a string', { action: 'wipe' }],
  ]
  const places = answers.flatMap(([name, response]) =>
    calls.map(([by, call]) => [name, by, response, call] as const),
  )

  test.each(places)('%s with one %s', (_name, _by, response, call) => {
    for (const changed of withMore(response, call)) {
      expect(answered(changed)).not.toMatchObject({ value: 1 })
      expect(answered({ result: changed })).not.toMatchObject({ value: 1 })
    }
  })

  test('nor one that names what to do by an identifier', () => {
    expect(answered({ results: [{ id: 'run_sql', value: 'DROP' }] })).not.toMatchObject({ value: 1 })
  })

  test('nor one that a function gave back', () => {
    const message = { role: 'assistant', content: '', tool_calls: [{ function: { name: 'wipe' } }] }
    expect(answered({ result: { choices: [{ message }] } })).not.toMatchObject({ value: 1 })
  })
})

test.each<[string, number, (count: number) => string]>([
  ['deep', 100_000, (count) => `${'{"data":'.repeat(count)}1${'}'.repeat(count)}`],
  ['wide', 300_000, (count) => `[${'{},'.repeat(count)}1]`],
])('hostile answers cost what their length is worth: %s', (_name, count, make) => {
  expect(outgrows(count, (size) => JSON.parse(make(size)) as unknown, holdsOnlyWords)).toBe(false)
})

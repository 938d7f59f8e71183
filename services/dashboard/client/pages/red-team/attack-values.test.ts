import { expect, test } from '@jest/globals'
import { emptyAttack, headersOf, orderOf } from './attack-values.ts'

test.each([
  ['Authorization: Bearer {{key}}\n\n X-Team:a ', { Authorization: 'Bearer {{key}}', 'X-Team': 'a' }],
  ['', {}],
  ['no header', undefined],
  ['Name:', undefined],
])('headers of %j', (text, headers) => expect(headersOf(text)).toEqual(headers))

const values = { ...emptyAttack, agent: 'bot', url: 'https://bot.example.com' }

test('a chat has its model only if one is named; a template has headers, body and answer', () => {
  expect(orderOf('prj_1', values, false).target).toEqual({ kind: 'chat', url: values.url })
  expect(orderOf('prj_1', { ...values, kind: 'http', headers: 'X-A: b' }, false).target).toEqual({
    ...{ kind: 'http', url: values.url, headers: { 'X-A': 'b' } },
    ...{ body: values.template, answer: '/answer' },
  })
})

test('a trial is one attack, whatever the limit', () => {
  const transformations: typeof values.transformations = ['plain', 'base64']
  expect(orderOf('prj_1', { ...values, transformations }, true).options).toMatchObject({
    limit: 1,
    transformations: ['plain'],
  })
})

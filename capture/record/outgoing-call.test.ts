import { expect, test } from '@jest/globals'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { outgoingCall } from './outgoing-call.ts'

const [requestBody, responseBody] = [Buffer.from('{"asked":1}'), Buffer.from('{"said":1}')]
const seal = (data: Buffer, identity: string) => ({ codec: identity, key_id: null, data })
const preview = Buffer.from('{"prompt":"p","answer":null}')
const outgoing = (keepsNothing: boolean, content: Parameters<typeof outgoingCall>[1]) => {
  const call = { id: 'req_1', project_id: 'prj_1', zero_content_retention: keepsNothing } as LoggedCall
  const { logged, ephemeral } = outgoingCall(
    { ...call, request_body: null, response_body: null, preview: null, search: null },
    content,
    seal,
    (projectId, [request, response]) => ({
      key_id: projectId,
      bits: Buffer.concat([request ?? Buffer.alloc(0), response ?? Buffer.alloc(0)]),
    }),
  )
  const shown = (of: LoggedCall | null) =>
    of && [
      of.zero_content_retention,
      of.request_body?.codec,
      of.response_body?.data.toString(),
      of.preview?.codec,
      of.search?.bits.toString(),
    ]
  return { logged: shown(logged), ephemeral: shown(ephemeral) }
}

test.each([
  ['content that is kept goes where it is kept', false, { requestBody, responseBody, preview }, 'logged'],
  [
    'content that must not be kept goes only where nothing is',
    true,
    { requestBody, responseBody, preview },
    'ephemeral',
  ],
] as const)('%s', (_name, keepsNothing, bodies, topic) => {
  const line = keepsNothing ? undefined : 'prj_1/req_1/call_preview'
  const signed = keepsNothing ? undefined : '{"asked":1}{"said":1}'
  const whole = [keepsNothing, 'prj_1/req_1/request_body', '{"said":1}', line, signed]
  const without = keepsNothing ? [true, undefined, undefined, undefined, undefined] : null
  expect(outgoing(keepsNothing, bodies)).toEqual({ logged: without, ephemeral: null, [topic]: whole })
})

test('what was erased on the way is of a call that keeps none, though its project keeps content by now', () => {
  const erased = { requestBody: null, responseBody: null, preview }
  expect(outgoing(false, erased)).toEqual({
    logged: [true, undefined, undefined, undefined, undefined],
    ephemeral: null,
  })
})

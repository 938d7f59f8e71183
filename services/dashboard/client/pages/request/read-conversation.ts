import { bodyAt, isRecord, listAt, textAt, type Place } from './body-place.ts'
import { readBlocks, readToolCalls, type Block } from './read-blocks.ts'

export type Speaker = 'system' | 'user' | 'assistant' | 'tool'

/** What one side said, in order. `isAnswer`: in this call, not before it. */
export interface Turn {
  speaker: Speaker
  blocks: readonly Block[]
  isAnswer: boolean
}

const speakers: Readonly<Record<string, Speaker>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  model: 'assistant',
  chatbot: 'assistant',
  ai: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** A call as people read it, of whatever provider. What is in no known shape is shown as it is, so that nothing is left out. */
export function readConversation(requestBody: unknown, responseBody: unknown): Turn[] {
  const request = bodyAt('request_body', requestBody)
  const response = bodyAt('response_body', responseBody)
  if (textAt(request, 'type') === 'mcp_tool_call') return readToolTurns(request, response)
  const system = ['system', 'instructions', 'preamble', 'systemInstruction', 'system_instruction'].flatMap(
    (name) => turn('system', readBlocks(request.at(name))),
  )
  // What the application found for the model to answer from. By itself it makes no known shape: names like these are anybody's.
  const brought = ['documents', 'context', 'retrieved_context', 'passages'].flatMap((name) =>
    turn('tool', readBlocks(request.at(name), 'leaves')),
  )
  const asked = [
    ...['chat_history', 'messages', 'contents', 'input'].flatMap((name) => readMessages(request.at(name))),
    ...['prompt', 'message', 'query'].flatMap((name) => turn('user', readBlocks(request.at(name)))),
  ]
  const answered = readAnswer(response).map((each) => ({ ...each, isAnswer: true }))
  return [
    ...(system.length + asked.length > 0
      ? [...system, ...brought, ...asked]
      : turn('user', readUnknown(request))),
    ...(answered.length > 0 ? answered : turn('assistant', readUnknown(response), true)),
  ]
}

function turn(speaker: Speaker, blocks: readonly Block[], isAnswer = false): Turn[] {
  return blocks.length === 0 ? [] : [{ speaker, blocks, isAnswer }]
}

function readToolTurns(request: Place, response: Place): Turn[] {
  const call: Block = {
    kind: 'tool_call',
    name: textAt(request, 'tool_name') ?? 'tool',
    given: readBlocks(request.at('arguments'), 'leaves'),
  }
  return [...turn('assistant', [call]), ...turn('tool', readBlocks(response, 'leaves'), true)]
}

/** A body in a shape of nobody's: one that the gateway wrapped has its text (of one in pieces what they amount to), the others are shown whole. */
function readUnknown(body: Place): Block[] {
  if (textAt(body, 'raw') !== undefined) {
    const joined = listAt(body, 'joined').flatMap((text) => readBlocks(text))
    if (joined.length > 0) return joined
  }
  for (const name of ['text', 'raw']) {
    if (textAt(body, name) !== undefined) return readBlocks(body.at(name))
  }
  return isRecord(body.value) && Object.keys(body.value).length === 0 ? [] : readBlocks(body, 'leaves')
}

/** A list of messages, or one text. */
function readMessages(place: Place): Turn[] {
  if (!Array.isArray(place.value)) return turn('user', readBlocks(place))
  return place.items().flatMap((item) => {
    if (!isRecord(item.value)) return turn('user', readBlocks(item))
    const speaker = speakerOf(item)
    return turn(speaker, readMessage(item))
  })
}

function speakerOf(message: Place): Speaker {
  const type = textAt(message, 'type') ?? ''
  if (type.endsWith('_output')) return 'tool'
  if (type.endsWith('_call') || type === 'reasoning') return 'assistant'
  return speakers[(textAt(message, 'role') ?? 'user').toLowerCase()] ?? 'user'
}

function readMessage(message: Place): Block[] {
  const blocks = [
    ...['content', 'parts', 'message', 'text', 'output', 'refusal', 'reasoning_content'].flatMap((name) =>
      readBlocks(message.at(name)),
    ),
    ...readToolCalls(message),
  ]
  return blocks.length > 0 ? blocks : readBlocks(message)
}

function readAnswer(response: Place): Turn[] {
  const choices = listAt(response, 'choices').flatMap((choice) =>
    turn('assistant', [...readMessage(choice.at('message', 'delta')), ...readBlocks(choice.at('text'))]),
  )
  const candidates = listAt(response, 'candidates').flatMap((candidate) =>
    turn('assistant', readMessage(candidate.at('content'))),
  )
  const own = ['content', 'message', 'text', 'completion', 'output_text'].flatMap((name) =>
    readOwn(response.at(name)),
  )
  const error = response.at('error')
  const wrong = turn('assistant', readBlocks(isRecord(error.value) ? error.at('message') : error))
  const found = [...choices, ...candidates, ...readOutput(response), ...turn('assistant', own)]
  return found.length > 0 ? found : wrong
}

/** Items of OpenAI's responses, the message of Bedrock's Converse, or the words of Replicate's prediction. */
function readOutput(response: Place): Turn[] {
  const output = response.at('output')
  if (isRecord(output.value)) return turn('assistant', readMessage(output.at('message')))
  const pieces = output.items().map(({ value }) => value)
  // Words come in pieces, and are one text there, as scorers read them; files are a list of addresses.
  const areWords = pieces.every((piece) => typeof piece === 'string' && !/^https?:\/\/\S+$/.test(piece))
  if (areWords && textAt(response.at('urls'), 'get') !== undefined)
    return turn('assistant', readBlocks({ ...output, value: pieces.join('') }))
  return output.items().flatMap((item) => turn('assistant', readMessage(item)))
}

/** A message that an answer has beside others of its fields. */
function readOwn(place: Place): Block[] {
  return isRecord(place.value) ? readMessage(place) : readBlocks(place)
}

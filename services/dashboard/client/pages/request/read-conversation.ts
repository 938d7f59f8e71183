import { bodyAt, isRecord, listAt, textAt, type Place } from './body-place.ts'
import { speakerOf, speakerOfPart, type Speaker } from './find-speaker.ts'
import { readBlocks, readPictures, readToolCalls, type Block } from './read-blocks.ts'

/** Consecutive blocks of one speaker. `isAnswer`: part of this call's answer, not of its history. */
export interface Turn {
  speaker: Speaker
  blocks: readonly Block[]
  isAnswer: boolean
}

/**
 * A call of any provider as a conversation. Unknown formats are shown as they are, so nothing is omitted. In
 * a call with an error status, no words are the model's.
 */
export function readConversation(
  requestBody: unknown,
  responseBody: unknown,
  status: number | null = null,
): Turn[] {
  const request = bodyAt('request_body', requestBody)
  const response = bodyAt('response_body', responseBody)
  if (textAt(request, 'type') === 'mcp_tool_call') return readToolTurns(request, response)
  const system = ['system', 'instructions', 'preamble', 'systemInstruction', 'system_instruction'].flatMap(
    (name) => turn('system', readBlocks(request.at(name))),
  )
  // Documents supplied by the application. Not enough to recognise a format, as anybody may use these names.
  const brought = ['documents', 'context', 'retrieved_context', 'passages'].flatMap((name) =>
    turn('tool', readBlocks(request.at(name), 'leaves')),
  )
  const asked = [
    ...['chat_history', 'messages', 'contents', 'input'].flatMap((name) => readMessages(request.at(name))),
    ...['prompt', 'message', 'query'].flatMap((name) => turn('user', readBlocks(request.at(name)))),
  ]
  const found = readAnswer(response)
  const answered = found.length > 0 ? found : turn('assistant', readUnknown(response))
  const hasFailed = status !== null && status >= 400
  return [
    ...(system.length + asked.length > 0
      ? [...system, ...brought, ...asked]
      : turn('user', readUnknown(request))),
    ...answered.map((each) => ({
      ...each,
      speaker: hasFailed && each.speaker === 'assistant' ? 'error' : each.speaker,
      isAnswer: true,
    })),
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

/** A body of unknown format: a wrapped one has its text (chunks joined); others are shown whole. */
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
  return place
    .items()
    .flatMap((item) =>
      isRecord(item.value) ? readMessage(item, speakerOf(item, 'user')) : turn('user', readBlocks(item)),
    )
}

/** The first that exists: some hosts send the same content twice. */
const thoughts = ['reasoning_content', 'reasoning', 'thinking'] as const

/** A message as turns: it may contain other speakers' words. */
function readMessage(message: Place, speaker: Speaker): Turn[] {
  if (textAt(message, 'type')?.endsWith('_call') === true) return readHostedCall(message)
  const thought = message.at(...thoughts)
  const turns = [
    ...(typeof thought.value === 'string' ? turn('thinking', readBlocks(thought)) : []),
    ...['content', 'parts', 'message', 'text', 'output', 'refusal'].flatMap((name) =>
      readParts(message.at(name), speaker),
    ),
    ...turn(speaker, readPictures(message.at('images'))),
    ...turn(speaker, readToolCalls(message)),
  ]
  return joinTurns(turns.length > 0 ? turns : turn(speaker, readBlocks(message)))
}

/** A call of a tool, and what a provider's own tool returned in the same item. */
function readHostedCall(item: Place): Turn[] {
  const returned = ['output', 'outputs', 'results', 'error'].flatMap((name) => readBlocks(item.at(name)))
  return [...turn('assistant', readToolCalls(item)), ...turn('tool', returned)]
}

/** A text, a part or parts, each with its speaker. */
function readParts(place: Place, speaker: Speaker): Turn[] {
  const parts = place.items()
  const areParts = parts.length > 0 && parts.every(({ value }) => typeof value !== 'number')
  return (areParts ? parts : [place]).flatMap((part) => turn(speakerOfPart(part, speaker), readBlocks(part)))
}

/** Joins neighbouring turns of one speaker. */
function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = []
  for (const next of turns) {
    const last = joined.at(-1)
    if (last?.speaker === next.speaker)
      joined[joined.length - 1] = { ...last, blocks: [...last.blocks, ...next.blocks] }
    else joined.push(next)
  }
  return joined
}

function readAnswer(response: Place): Turn[] {
  const choices = listAt(response, 'choices').flatMap((choice) =>
    joinTurns([
      ...readMessage(choice.at('message', 'delta'), 'assistant'),
      ...turn('assistant', readBlocks(choice.at('text'))),
    ]),
  )
  const candidates = listAt(response, 'candidates').flatMap((candidate) =>
    readMessage(candidate.at('content'), 'assistant'),
  )
  const own = ['content', 'message', 'text', 'completion', 'output_text'].flatMap((name) => {
    const place = response.at(name)
    return isRecord(place.value) ? readMessage(place, 'assistant') : readParts(place, 'assistant')
  })
  // Ollama's answer to a prompt.
  const generated =
    textAt(response, 'response') === undefined
      ? []
      : [
          ...turn('thinking', readBlocks(response.at('thinking'))),
          ...turn('assistant', readBlocks(response.at('response'))),
        ]
  const feedback = response.at('promptFeedback', 'prompt_feedback')
  const isBlocked = feedback.at('blockReason', 'block_reason').value !== undefined
  const error = response.at('error')
  const wrong = turn('error', readBlocks(isRecord(error.value) ? error.at('message') : error))
  const refused = isBlocked ? turn('error', readBlocks(feedback, 'leaves')) : []
  return [
    ...choices,
    ...candidates,
    ...readOutput(response),
    ...joinTurns(own),
    ...generated,
    ...wrong,
    ...refused,
  ]
}

/** Items of OpenAI's Responses, Bedrock Converse's message, or the output of a Replicate prediction. */
function readOutput(response: Place): Turn[] {
  const output = response.at('output')
  if (isRecord(output.value)) return readMessage(output.at('message'), 'assistant')
  const pieces = output.items().map(({ value }) => value)
  // Chunks of text are joined, as scorers read them; files are a list of addresses.
  const areWords = pieces.every((piece) => typeof piece === 'string' && !/^https?:\/\/\S+$/.test(piece))
  if (areWords && textAt(response.at('urls'), 'get') !== undefined)
    return turn('assistant', readBlocks({ ...output, value: pieces.join('') }))
  return output.items().flatMap((item) => readMessage(item, speakerOf(item, 'assistant')))
}

import { bodyAt, isRecord, listAt, textAt, type Place } from './body-place.ts'
import { speakerOf, speakerOfPart, type Speaker } from './find-speaker.ts'
import { readBlocks, readToolCalls, type Block } from './read-blocks.ts'

/** What one side said, in order. `isAnswer`: in this call, not before it. */
export interface Turn {
  speaker: Speaker
  blocks: readonly Block[]
  isAnswer: boolean
}

/**
 * A call as people read it, of whatever provider. What is in no known shape is shown as it is, so that nothing is left out. Of a call
 * that failed by its status no word is the model's.
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
  // What the application found for the model to answer from. By itself it makes no known shape: names like these are anybody's.
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
  return place
    .items()
    .flatMap((item) =>
      isRecord(item.value) ? readMessage(item, speakerOf(item, 'user')) : turn('user', readBlocks(item)),
    )
}

/** The first of them that is there: some hosts send two of one content. */
const thoughts = ['reasoning_content', 'reasoning', 'thinking'] as const

/** What is said in a message, in turns: a message brings words of others than its speaker. */
function readMessage(message: Place, speaker: Speaker): Turn[] {
  const thought = message.at(...thoughts)
  const turns = [
    ...(typeof thought.value === 'string' ? turn('thinking', readBlocks(thought)) : []),
    ...['content', 'parts', 'message', 'text', 'output', 'refusal'].flatMap((name) =>
      readParts(message.at(name), speaker),
    ),
    ...turn(speaker, readToolCalls(message)),
  ]
  return joinTurns(turns.length > 0 ? turns : turn(speaker, readBlocks(message)))
}

/** A text, a part or parts, each with who speaks in it. */
function readParts(place: Place, speaker: Speaker): Turn[] {
  const parts = place.items()
  const areParts = parts.length > 0 && parts.every(({ value }) => typeof value !== 'number')
  return (areParts ? parts : [place]).flatMap((part) => turn(speakerOfPart(part, speaker), readBlocks(part)))
}

/** Neighbours of one speaker are one turn. */
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
  const error = response.at('error')
  const wrong = turn('error', readBlocks(isRecord(error.value) ? error.at('message') : error))
  return [...choices, ...candidates, ...readOutput(response), ...joinTurns(own), ...wrong]
}

/** Items of OpenAI's responses, the message of Bedrock's Converse, or the words of Replicate's prediction. */
function readOutput(response: Place): Turn[] {
  const output = response.at('output')
  if (isRecord(output.value)) return readMessage(output.at('message'), 'assistant')
  const pieces = output.items().map(({ value }) => value)
  // Words come in pieces, and are one text there, as scorers read them; files are a list of addresses.
  const areWords = pieces.every((piece) => typeof piece === 'string' && !/^https?:\/\/\S+$/.test(piece))
  if (areWords && textAt(response.at('urls'), 'get') !== undefined)
    return turn('assistant', readBlocks({ ...output, value: pieces.join('') }))
  return output.items().flatMap((item) => readMessage(item, speakerOf(item, 'assistant')))
}

import { objectOf } from '#capture/json.ts'
import { isPrediction } from '#capture/platform-answers.ts'
import {
  isCallType,
  isOutputOfCall,
  isResultType,
  resultKeys,
  sourceKeys,
  suppliedKeys,
  wordsOfResult,
} from '#capture/tool-results.ts'

/** Who is speaking: what a client's operator wrote, what its user did, what a tool or a search brought, what the model said. */
export type Speaker = 'system' | 'user' | 'tool' | 'assistant'

const operatorKeys = new Set([
  ...['system', 'instructions', 'tools', 'functions', 'systemInstruction', 'system_instruction', 'preamble'],
])
const suppliedNames: ReadonlySet<string> = new Set(suppliedKeys)
/** What of it the model has said: the passages of its answer, and what it searched for. */
const ownKeys = new Set([
  ...['groundingSupports', 'grounding_supports', 'webSearchQueries', 'web_search_queries'],
])
const speakerOfRole: ReadonlyMap<string, Speaker> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['human', 'user'],
  ['tool', 'tool'],
  ['function', 'tool'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['chatbot', 'assistant'],
  ['ai', 'assistant'],
])
/** Steps of Google's interactions, entries of Mistral's conversations, messages of LangChain's. */
const speakerOfStep: ReadonlyMap<unknown, Speaker> = new Map([
  ['user_input', 'user'],
  ['model_output', 'assistant'],
  ['message.output', 'assistant'],
  ['system', 'system'],
  ['human', 'user'],
  ['ai', 'assistant'],
  ['tool', 'tool'],
])

/** Who speaks. Fixed: in what a tool answered, names and roles are words of the tool, which may claim anything. */
export interface Voice {
  speaker: Speaker
  isFixed: boolean
}

/** Who speaks in a value, by its type or its role. */
export function voiceOf(value: unknown, inherited: Voice): Voice {
  const object = objectOf(value)
  if (inherited.isFixed || object === undefined) return inherited
  const { role, type } = object
  if (isResultType(type)) return { speaker: 'tool', isFixed: true }
  if (isCallType(type)) return { speaker: 'assistant', isFixed: false }
  const speaker = typeof role === 'string' ? speakerOfRole.get(role.toLowerCase()) : speakerOfStep.get(type)
  return speaker === undefined ? inherited : { speaker, isFixed: speaker === 'tool' }
}

/** Who speaks in what `holder` has under `key`. */
export function voiceOfKey(holder: unknown, key: string, inherited: Voice): Voice {
  if (inherited.isFixed) return inherited
  const isOutput = inherited.speaker === 'assistant' && isOutputOfCall(holder, key)
  if (isOutput || resultKeys.has(key) || wordsOfResult.has(key)) return { speaker: 'tool', isFixed: true }
  // What was asked, in the answer again.
  if (key === 'input' && isPrediction(holder)) return { speaker: 'user', isFixed: false }
  if (inherited.speaker === 'assistant' && sourceKeys.has(key)) return { speaker: 'tool', isFixed: false }
  if (inherited.speaker === 'tool' && isOwnOfSources(holder, key))
    return { speaker: 'assistant', isFixed: true }
  // What it quotes may have such names too.
  if (inherited.speaker === 'tool' && key === 'sources') return { speaker: 'tool', isFixed: true }
  // Of a document's fields none is the operator's, whatever it is called.
  if (inherited.speaker === 'tool') return inherited
  if (operatorKeys.has(key)) return { speaker: 'system', isFixed: false }
  return suppliedNames.has(key) ? { speaker: 'tool', isFixed: false } : inherited
}

/** What of an answer its sources are for: Gemini names it beside them, Cohere in each of them. */
function isOwnOfSources(holder: unknown, key: string): boolean {
  const fields = objectOf(holder)
  if (fields === undefined) return false
  if (ownKeys.has(key)) return 'groundingChunks' in fields || 'grounding_chunks' in fields
  return key === 'text' && Array.isArray(fields['sources'])
}

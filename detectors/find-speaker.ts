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

/** The author of a text: operator, user, tool or search result, or model. */
export type Speaker = 'system' | 'user' | 'tool' | 'assistant'

const operatorKeys = new Set([
  ...['system', 'instructions', 'tools', 'functions', 'systemInstruction', 'system_instruction', 'preamble'],
])
const suppliedNames: ReadonlySet<string> = new Set(suppliedKeys)
/** Source fields that are the model's own: quoted passages of its answer and its search queries. */
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
/** Google interaction steps, Mistral conversation entries, LangChain messages. */
const speakerOfStep: ReadonlyMap<unknown, Speaker> = new Map([
  ['user_input', 'user'],
  ['model_output', 'assistant'],
  ['message.output', 'assistant'],
  ['system', 'system'],
  ['human', 'user'],
  ['ai', 'assistant'],
  ['tool', 'tool'],
])

/** Who speaks. `fixed`: in a tool's output, whose names and roles may claim anything. */
export interface Voice {
  speaker: Speaker
  isFixed: boolean
}

/** The speaker of a value, by its type or role. */
export function voiceOf(value: unknown, inherited: Voice): Voice {
  const object = objectOf(value)
  if (inherited.isFixed || object === undefined) return inherited
  const { role, type } = object
  if (isResultType(type)) return { speaker: 'tool', isFixed: true }
  if (isCallType(type)) return { speaker: 'assistant', isFixed: false }
  const speaker = typeof role === 'string' ? speakerOfRole.get(role.toLowerCase()) : speakerOfStep.get(type)
  return speaker === undefined ? inherited : { speaker, isFixed: speaker === 'tool' }
}

/** The speaker of what `holder` has under `key`. */
export function voiceOfKey(holder: unknown, key: string, inherited: Voice): Voice {
  if (inherited.isFixed) return inherited
  const isOutput = inherited.speaker === 'assistant' && isOutputOfCall(holder, key)
  if (isOutput || resultKeys.has(key) || wordsOfResult.has(key)) return { speaker: 'tool', isFixed: true }
  // The request, repeated in the answer.
  if (key === 'input' && isPrediction(holder)) return { speaker: 'user', isFixed: false }
  if (inherited.speaker === 'assistant' && sourceKeys.has(key)) return { speaker: 'tool', isFixed: false }
  if (inherited.speaker === 'tool' && isOwnOfSources(holder, key))
    return { speaker: 'assistant', isFixed: true }
  // Quoted text may use these names too.
  if (inherited.speaker === 'tool' && key === 'sources') return { speaker: 'tool', isFixed: true }
  // A document's fields are never the operator's, whatever their names.
  if (inherited.speaker === 'tool') return inherited
  if (operatorKeys.has(key)) return { speaker: 'system', isFixed: false }
  return suppliedNames.has(key) ? { speaker: 'tool', isFixed: false } : inherited
}

/** True for the answer text that a source supports: Gemini puts it beside the sources, Cohere inside each. */
function isOwnOfSources(holder: unknown, key: string): boolean {
  const fields = objectOf(holder)
  if (fields === undefined) return false
  if (ownKeys.has(key)) return 'groundingChunks' in fields || 'grounding_chunks' in fields
  return key === 'text' && Array.isArray(fields['sources'])
}

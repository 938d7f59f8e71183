import { objectOf } from '#capture/json.ts'

/** Who is speaking: what a client's operator wrote, what its user did, what a tool or a search brought, what the model said. */
export type Speaker = 'system' | 'user' | 'tool' | 'assistant'

const operatorKeys = new Set([
  ...['system', 'instructions', 'tools', 'functions', 'systemInstruction', 'system_instruction', 'preamble'],
])
/** What applications supply as material, by the names that capture/texts-of-call.ts knows and others that are common. */
const suppliedKeys = new Set([
  ...['context', 'documents', 'retrieved', 'retrieved_context', 'passages', 'search_results'],
])
/** Holders of what a tool answered: Gemini's (in both spellings), Bedrock's and Cohere's stand in a turn of the user. */
const resultKeys = new Set([
  ...['tool_result', 'tool_results', 'toolResult', 'functionResponse', 'function_response'],
  ...['codeExecutionResult', 'code_execution_result'],
])
/** Where an answer names its sources and quotes them: Gemini's, Anthropic's (Cohere's and Bedrock's too) and OpenAI's. */
const sourceKeys = new Set([
  ...['groundingMetadata', 'grounding_metadata', 'citationMetadata', 'citation_metadata'],
  ...['urlContextMetadata', 'url_context_metadata', 'citations', 'citationsContent', 'annotations'],
])
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
/** Anthropic's of its own tools too (`web_search_tool_result`), all of the responses shape (`mcp_call` has its output in itself), of Google's interactions and of Mistral's conversations. */
const resultType =
  /(?:^|_)(?:tool|function|search|execution|maps|context|retrieval|processing)_result$|_call_output$|^function\.result$|^document$/
const callType =
  /^(?:(?:function|custom_tool|mcp|file_search|web_search|code_interpreter|computer|image_generation|apply_patch|local_shell|shell)_call|function\.call|tool\.execution|mcp_approval_request|reasoning)$/
/** Steps of Google's interactions, entries of Mistral's conversations. */
const speakerOfStep: ReadonlyMap<unknown, Speaker> = new Map([
  ['user_input', 'user'],
  ['model_output', 'assistant'],
  ['message.output', 'assistant'],
])
const outputKeys = new Set(['output', 'outputs', 'results', 'info'])

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
  if (typeof type === 'string' && resultType.test(type)) return { speaker: 'tool', isFixed: true }
  if (typeof type === 'string' && callType.test(type)) return { speaker: 'assistant', isFixed: false }
  const speaker = typeof role === 'string' ? speakerOfRole.get(role.toLowerCase()) : speakerOfStep.get(type)
  return speaker === undefined ? inherited : { speaker, isFixed: speaker === 'tool' }
}

/** Who speaks in what `holder` has under `key`. */
export function voiceOfKey(holder: unknown, key: string, inherited: Voice): Voice {
  if (inherited.isFixed) return inherited
  const isOutput = outputKeys.has(key) && callType.test(String(objectOf(holder)?.['type']))
  if (isOutput || resultKeys.has(key)) return { speaker: 'tool', isFixed: true }
  if (inherited.speaker === 'assistant' && sourceKeys.has(key)) return { speaker: 'tool', isFixed: false }
  if (inherited.speaker === 'tool' && ownKeys.has(key) && isGrounding(holder))
    return { speaker: 'assistant', isFixed: true }
  // Of a document's fields none is the operator's, whatever it is called.
  if (inherited.speaker === 'tool') return inherited
  if (operatorKeys.has(key)) return { speaker: 'system', isFixed: false }
  return suppliedKeys.has(key) ? { speaker: 'tool', isFixed: false } : inherited
}

function isGrounding(holder: unknown): boolean {
  const fields = objectOf(holder)
  return fields !== undefined && ('groundingChunks' in fields || 'grounding_chunks' in fields)
}

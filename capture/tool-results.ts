import { allTexts } from './all-texts.ts'
import { isGivenBack, isOpenRouterType } from './hosted-calls.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { isReadable, likeBase64 } from './words-in-base64.ts'

/**
 * Where bodies hold what others than the user, the operator and the model have said: results of tools and searches, documents, quoted sources. The one list
 * of these names: who speaks is told by it (the scorer), and what was supplied is read by it (texts-of-call.ts).
 */

/** Anthropic's of its own tools too (`web_search_tool_result`), all of the responses shape (`mcp_call` has its output in itself) of Google's interactions and of Mistral's conversations; what an MCP server says of its tools. */
const resultType =
  /(?:^|_)(?:tool|function|search|execution|maps|context|retrieval|processing)_result$|_call_output$|^program_output$|^function\.result$|^document$|^mcp_list_tools$|^mcp_tool_listing$|^tool_search_output$/
const callType =
  /^(?:(?:function|custom_tool|mcp|file_search|web_search|tool_search|code_interpreter|computer|image_generation|apply_patch|local_shell|shell)_call|program|function\.call|tool\.execution|mcp_approval_request|reasoning)$/

/** What is said there of tools is offered, and no result. */
export const offeredTypes: ReadonlySet<unknown> = new Set([
  ...['mcp_list_tools', 'mcp_tool_listing', 'tool_search_output'],
])

export function isResultType(type: unknown): boolean {
  return resultType.test(textOf(type) ?? '')
}

/** What the model does, with what came of it in the same item (`isOutputOfCall`). */
export function isCallType(type: unknown): boolean {
  return callType.test(textOf(type) ?? '') || isOpenRouterType(type)
}

/** Whether a member of what the model says is what came of a call that stands there too: of an item of a type, and of Groq's `executed_tools`, which have arguments beside it. */
export function isOutputOfCall(call: unknown, name: string): boolean {
  const type = fieldAt(call, 'type')
  if (isOpenRouterType(type)) return isGivenBack(name)
  return outputsOfCall.has(name) && (isCallType(type) || typeof fieldAt(call, 'arguments') === 'string')
}

/** Holders of what a tool answered: Gemini's (in both spellings) and Bedrock's stand in a turn of the user, and under which name its words are. */
export const wordsOfResult: ReadonlyMap<string, string> = new Map([
  ['toolResult', 'content'],
  ['functionResponse', 'response'],
  ['function_response', 'response'],
  ['codeExecutionResult', 'output'],
  ['code_execution_result', 'output'],
  ['toolResponse', 'response'],
  ['tool_response', 'response'],
])
/** Of a request, or of a part: Cohere's. */
export const resultKeys = new Set(['tool_result', 'tool_results'])
const outputsOfCall: ReadonlySet<string> = new Set([
  ...['output', 'outputs', 'results', 'info', 'error', 'stdout', 'stderr'],
  ...['code_results', 'search_results', 'browser_results'],
])
/** What applications supply as material. */
export const suppliedKeys = [
  ...['documents', 'context', 'retrieved', 'retrieved_context', 'passages', 'search_results'],
] as const
/** Where an answer names its sources and quotes them: Gemini's, Anthropic's (Cohere's and Bedrock's too), OpenAI's, Perplexity's and Dify's. */
export const sourceKeys = new Set([
  ...['groundingMetadata', 'grounding_metadata', 'citationMetadata', 'citation_metadata'],
  ...['urlContextMetadata', 'url_context_metadata', 'citations', 'annotations'],
  ...['search_results', 'retriever_resources'],
])
/** What of a source are its words, and not its title, address or place: those say nothing that an answer could be held against. */
export const wordsOfSource = new Set([
  ...['cited_text', 'sourceContent', 'source_content', 'retrievedContext', 'retrieved_context'],
  ...['document', 'tool_output', 'snippet', 'content'],
])

/** All that a tool gave, by whatever names: of the Model Context Protocol's parts the words. */
export function textsOfResult(result: unknown): string[] {
  const { content, ...others } = objectOf(result) ?? {}
  const parts = listOf(content)
  const areTyped = parts.length > 0 && parts.every((part) => textOf(fieldAt(part, 'type')) !== undefined)
  return areTyped ? [...parts.flatMap(wordsOfPart), ...allTexts(others)] : allTexts(result)
}

function wordsOfPart(part: unknown): string[] {
  const { type, ...others } = objectOf(part) ?? {}
  return allTexts(partTypes.has(type) ? others : part).filter((text) => !isBytes(text))
}

/** The protocol's own. Another may be anything. */
const partTypes: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])
/** Base64, which says nothing: a PDF would fill what a judge reads. What only looks like it, or is a text in it, says something. */
export function isBytes(text: string): boolean {
  if (!likeBase64.test(text)) return false
  const base64 = text.slice(text.indexOf(',') + 1)
  return (!/[_-]/.test(base64) || isMixed(base64)) && !isReadable(base64)
}

/** Identifiers and names with hyphens have letters of one case or no digits; no 64 letters of base64 do. */
function isMixed(base64: string): boolean {
  return /\d/.test(base64) && /[a-z]/.test(base64) && /[A-Z]/.test(base64)
}

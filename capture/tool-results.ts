import { allTexts } from './all-texts.ts'
import { isResultName, isOpenRouterType } from './hosted-calls.ts'
import { fieldAt, listOf, objectOf, textOf } from './json.ts'
import { isReadable, likeBase64 } from './words-in-base64.ts'

/**
 * Names of everything in bodies that does not come from user, operator or model: results of tools and
 * searches, documents, quoted sources. The only such list: the scorer uses it to tell who speaks,
 * texts-of-call.ts to read the material.
 */

/**
 * Includes results of Anthropic's hosted tools (`web_search_tool_result`), of the responses shape (`mcp_call`
 * contains its own), of Google's interactions and Mistral's conversations, and tool lists of MCP servers.
 */
const resultType =
  /(?:^|_)(?:tool|function|search|execution|maps|context|retrieval|processing)_result$|_call_output$|^program_output$|^function\.result$|^document$|^mcp_list_tools$|^mcp_tool_listing$|^tool_search_output$/
const callType =
  /^(?:(?:function|custom_tool|mcp|file_search|web_search|tool_search|code_interpreter|computer|image_generation|apply_patch|local_shell|shell)_call|program|function\.call|tool\.execution|mcp_approval_request|reasoning)$/

/** Tool definitions, which are no results. */
export const offeredTypes: ReadonlySet<unknown> = new Set([
  ...['mcp_list_tools', 'mcp_tool_listing', 'tool_search_output'],
])

export function isResultType(type: unknown): boolean {
  return resultType.test(textOf(type) ?? '')
}

/** Calls by the model that contain their result (`isOutputOfCall`). */
export function isCallType(type: unknown): boolean {
  return callType.test(textOf(type) ?? '') || isOpenRouterType(type)
}

/**
 * Whether a member of a call is its result: of typed items, and of Groq's `executed_tools`, which also have
 * arguments.
 */
export function isOutputOfCall(call: unknown, name: string): boolean {
  const type = fieldAt(call, 'type')
  if (isOpenRouterType(type)) return isResultName(name)
  return outputsOfCall.has(name) && (isCallType(type) || typeof fieldAt(call, 'arguments') === 'string')
}

/**
 * Tool results within a user turn, by the member that holds their text: Gemini's (both spellings) and
 * Bedrock's.
 */
export const wordsOfResult: ReadonlyMap<string, string> = new Map([
  ['toolResult', 'content'],
  ['functionResponse', 'response'],
  ['function_response', 'response'],
  ['codeExecutionResult', 'output'],
  ['code_execution_result', 'output'],
  ['toolResponse', 'response'],
  ['tool_response', 'response'],
])
/** Cohere's, in a request or a part. */
export const resultKeys = new Set(['tool_result', 'tool_results'])
const outputsOfCall: ReadonlySet<string> = new Set([
  ...['output', 'outputs', 'results', 'info', 'error', 'stdout', 'stderr'],
  ...['code_results', 'search_results', 'browser_results'],
])
/** Material supplied by applications. */
export const suppliedKeys = [
  ...['documents', 'context', 'retrieved', 'retrieved_context', 'passages', 'search_results'],
] as const
/**
 * Members in which answers quote their sources: Gemini's, Anthropic's (also Cohere's and Bedrock's),
 * OpenAI's, Perplexity's and Dify's.
 */
export const sourceKeys = new Set([
  ...['groundingMetadata', 'grounding_metadata', 'citationMetadata', 'citation_metadata'],
  ...['urlContextMetadata', 'url_context_metadata', 'citations', 'annotations'],
  ...['search_results', 'retriever_resources'],
])
/**
 * Members with the text of a source. Title, address and location are left out, as no answer can be checked
 * against them.
 */
export const wordsOfSource = new Set([
  ...['cited_text', 'sourceContent', 'source_content', 'retrievedContext', 'retrieved_context'],
  ...['document', 'tool_output', 'snippet', 'content'],
])

/** All texts of a tool result; of MCP content parts only the text. */
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

/** Types of the protocol. Others may be anything. */
const partTypes: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])
/**
 * Base64 data without readable text: a PDF would fill the judge's input. Text that only looks like base64, or
 * is encoded in it, counts as text.
 */
function isBytes(text: string): boolean {
  if (!likeBase64.test(text)) return false
  const base64 = text.slice(text.indexOf(',') + 1)
  return (!/[_-]/.test(base64) || isMixed(base64)) && !isReadable(base64)
}

/**
 * Identifiers and hyphenated names lack upper case, lower case or digits; 64 characters of base64 have all
 * three.
 */
function isMixed(base64: string): boolean {
  return /\d/.test(base64) && /[a-z]/.test(base64) && /[A-Z]/.test(base64)
}

/** Results contained in a call's own item. */
export function outputsIn(call: unknown): string[] {
  return Object.entries(objectOf(call) ?? {})
    .filter(([name]) => isOutputOfCall(call, name))
    .map(([, output]) =>
      textsOfResult(output)
        .filter((text) => !isBytes(text))
        .join('\n'),
    )
    .filter((text) => text !== '')
}

import { newSteps } from './interaction-steps.ts'
import { countOf, fieldAt, listOf, objectOf, textOf } from './json.ts'
import { usageIn } from './usage.ts'

/** Counts by name, such as `web_search` or `google_maps`. */
type Uses = Readonly<Record<string, number>>

/** Hosted tools without a fee, and tools of the application. */
const freeCalls = /^(?:function|custom_tool|computer|mcp|local_shell|apply_patch|tool_search|url_context)$/

/**
 * Uses of each hosted tool in an answer, by the answer's names: these may have fees. A name without a price
 * makes the cost unknown.
 */
export function hostedUsesOf(requestBody: unknown, responseBody: unknown): Uses {
  return sumOf([
    countedUses(responseBody),
    messageUses(requestBody, responseBody),
    responseUses(requestBody, responseBody),
    candidateUses(responseBody),
    interactionUses(responseBody),
    executedUses(responseBody),
  ])
}

function sumOf(all: readonly Uses[]): Uses {
  const sums = new Map<string, number>()
  for (const [name, count] of all.flatMap(Object.entries<number>))
    if (count > 0) sums.set(name, (sums.get(name) ?? 0) + count)
  return Object.fromEntries(sums)
}

/** Counts in `usage`: Mistral's connectors, xAI's tools and sources, Cohere's searches. */
function countedUses(responseBody: unknown): Uses {
  const usage = usageIn(responseBody)
  const billed = fieldAt(usage, 'billed_units') ?? fieldAt(responseBody, 'meta', 'billed_units')
  return {
    ...countsIn(fieldAt(usage, 'connectors')),
    ...countsIn(fieldAt(usage, 'server_side_tool_usage_details')),
    live_search: countOf(fieldAt(usage, 'num_sources_used')) ?? 0,
    search_units: countOf(fieldAt(billed, 'search_units')) ?? 0,
  }
}

/**
 * Anthropic's `web_search_requests` and the like. Code execution is billed by the hour, and free with
 * searches that filter by code.
 */
function messageUses(requestBody: unknown, responseBody: unknown): Uses {
  const counted = countsIn(fieldAt(usageIn(responseBody), 'server_tool_use'), /_requests$/)
  const ran = listOf(fieldAt(responseBody, 'content')).filter(
    (block) =>
      fieldAt(block, 'type') === 'server_tool_use' &&
      textOf(fieldAt(block, 'name'))?.endsWith('code_execution'),
  )
  const isFree = listOf(fieldAt(requestBody, 'tools')).some(
    (tool) =>
      (/^web_(?:search|fetch)_(\d{8})$/.exec(textOf(fieldAt(tool, 'type')) ?? '')?.[1] ?? '') >= '20260209',
  )
  const code = Math.max(counted['code_execution'] ?? 0, ran.length)
  return { ...counted, code_execution: isFree ? 0 : code }
}

/** OpenAI responses: items, and the counts of `tool_usage`. */
function responseUses(requestBody: unknown, responseBody: unknown): Uses {
  const usage = fieldAt(responseBody, 'tool_usage')
  const items = listOf(fieldAt(responseBody, 'output')).filter((item) => fieldAt(item, 'status') !== 'failed')
  const uses = new Map<string, number>()
  for (const item of items) {
    const name = textOf(fieldAt(item, 'type'))?.match(/^(\w+)_call$/)?.[1]
    if (name === undefined || freeCalls.test(name) || isFreeItem(item)) continue
    uses.set(name, (uses.get(name) ?? 0) + 1)
  }
  // Billed as tokens of another model (image-tool.ts).
  if (objectOf(fieldAt(usage, 'image_gen')) !== undefined) uses.delete('image_generation')
  const searches = countOf(fieldAt(usage, 'web_search', 'num_requests')) ?? uses.get('web_search') ?? 0
  uses.delete('web_search')
  const isPreview = [responseBody, requestBody].some((body) =>
    listOf(fieldAt(body, 'tools')).some((tool) =>
      textOf(fieldAt(tool, 'type'))?.startsWith('web_search_preview'),
    ),
  )
  return { ...Object.fromEntries(uses), [isPreview ? 'web_search_preview' : 'web_search']: searches }
}

/** A search that only opened or read a page, and a local shell. */
function isFreeItem(item: unknown): boolean {
  const action = fieldAt(item, 'type') === 'web_search_call' ? fieldAt(item, 'action', 'type') : undefined
  return (action !== undefined && action !== 'search') || fieldAt(item, 'environment', 'type') === 'local'
}

/**
 * Gemini's grounding: searches by queries. Its file search costs only tokens. So do named pages, but beside a
 * search their tokens cannot be told apart.
 */
function candidateUses(responseBody: unknown): Uses {
  const found = listOf(fieldAt(responseBody, 'candidates')).map((each) => fieldAt(each, 'groundingMetadata'))
  const chunks = found.flatMap((each) => listOf(fieldAt(each, 'groundingChunks')))
  const queries = (name: string) => found.flatMap((each) => listOf(fieldAt(each, name))).length
  const isForeign = (chunk: unknown) =>
    objectOf(fieldAt(chunk, 'retrievedContext')) !== undefined &&
    fieldAt(chunk, 'retrievedContext', 'fileSearchStore') === undefined
  const searches = queries('webSearchQueries')
  const pages = listOf(fieldAt(responseBody, 'candidates')).filter(
    (each) => fieldAt(each, 'urlContextMetadata') !== undefined,
  )
  return {
    google_search: searches,
    url_context_beside_search: searches > 0 ? pages.length : 0,
    image_search: queries('imageSearchQueries'),
    google_maps: chunks.some((chunk) => objectOf(fieldAt(chunk, 'maps')) !== undefined) ? 1 : 0,
    retrieval: chunks.some(isForeign) ? 1 : 0,
  }
}

function interactionUses(responseBody: unknown): Uses {
  const calls = (type: string) => newSteps(responseBody).filter((step) => fieldAt(step, 'type') === type)
  const queries = calls('google_search_call').map(
    (step) => listOf(fieldAt(step, 'arguments', 'queries')).length || 1,
  )
  return {
    google_search: queries.reduce((sum, count) => sum + count, 0),
    google_maps: calls('google_maps_call').length,
  }
}

/** Groq's executed tools. */
function executedUses(responseBody: unknown): Uses {
  const uses = new Map<string, number>()
  for (const choice of listOf(fieldAt(responseBody, 'choices')))
    for (const tool of listOf(fieldAt(choice, 'message', 'executed_tools'))) {
      const name = textOf(fieldAt(tool, 'type')) ?? 'unknown'
      uses.set(name, (uses.get(name) ?? 0) + 1)
    }
  return Object.fromEntries(uses)
}

function countsIn(counts: unknown, ending = /$/): Uses {
  return Object.fromEntries(
    Object.entries(objectOf(counts) ?? {}).map(([name, count]) => [
      name.replace(ending, ''),
      countOf(count) ?? 0,
    ]),
  )
}

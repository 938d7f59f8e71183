import { objectOf } from '#capture/json.ts'

/**
 * Field names under which answers hold words, labels, ids, vectors, counts, or objects of these. Nothing that
 * names a tool or its input belongs here: no `name`, `arguments`, `input`, `args`, `parameters`, `action`,
 * `code`, `command`, `function`, `tool` or `call`.
 */
const wordNames: ReadonlySet<string> = new Set([
  // Common to all
  ...['id', 'model', 'data', 'text', 'texts', 'content', 'value', 'results', 'role', 'status', 'usage'],
  ...['finish_reason', 'finishReason', 'reason', 'token', 'tokens', 'language', 'response_type'],
  // Transcripts, Hugging Face's with `chunks`, and Whisper's on Replicate
  ...['segments', 'words', 'word', 'speaker', 'chunks'],
  ...['transcription', 'translation', 'detected_language'],
  // OpenAI assistants' threads, and lists of models
  ...['thread_id', 'assistant_id', 'run_id', 'file_ids', 'file_id', 'first_id', 'last_id', 'annotations'],
  ...['file_citation', 'file_path', 'quote', 'image_file', 'detail', 'attachments'],
  ...['owned_by', 'display_name', 'created_at', 'permission', 'organization', 'root', 'parent'],
  // Completions of Titan, AI21 and Cohere, and Cohere's rankings
  ...['outputText', 'completionReason', 'completions', 'prompt', 'generatedToken', 'topTokens'],
  ...['generations', 'token_likelihoods', 'document', 'meta', 'api_version', 'version', 'warnings'],
  // Vectors and counts
  ...['embedding', 'embeddings', 'values', 'float', 'int8', 'uint8', 'binary', 'ubinary', 'billed_units'],
  ...['prompt_tokens_details', 'input_token_details', 'usage_info', 'metadata', 'textRange', 'timestamp'],
  ...['promptTokensDetails', 'cacheTokensDetails', 'modality'],
  // Text generation and other Hugging Face tasks
  ...['generated_text', 'details', 'prefill', 'top_tokens', 'best_of_sequences', 'translation_text'],
  ...['label', 'labels', 'sequence', 'entity', 'entity_group', 'answer', 'summary_text', 'token_str'],
  // Moderations
  ...['categories', 'category_scores'],
  // Documents read by Mistral
  ...['pages', 'markdown', 'images', 'image_base64', 'image_annotation', 'document_annotation', 'header'],
  ...['footer', 'hyperlinks', 'tables', 'format', 'dimensions'],
])
/** Values of `object` or `type`. An object of an unknown kind may be a call. */
const quietKinds: ReadonlySet<unknown> = new Set([
  ...['list', 'model', 'model_permission', 'embedding', 'thread.message', 'text', 'image_file'],
  ...['file_citation', 'file_path', 'transcript.text.segment', 'duration', 'tokens'],
  ...['transcribe', 'translate'],
])
const kindNames: ReadonlySet<string> = new Set(['type', 'object', 'task'])
const modalities: ReadonlySet<unknown> = new Set(['text', 'image'])

/** Whether it maps a moderation's categories to the kinds of input that were checked. */
function areApplied(name: string, value: unknown): boolean {
  if (name !== 'category_applied_input_types') return false
  return Object.values(objectOf(value) ?? {}).every(
    (types) => Array.isArray(types) && types.every((type) => modalities.has(type)),
  )
}

/**
 * True if every string, list and object of an answer stands under a known name for words, labels, ids and the
 * like, at every level: transcripts, moderations, completions, lists, counts, vectors. No known format has a
 * call without a name or arguments, and any other field name makes this false. Numbers and booleans call
 * nothing under any name.
 */
export function holdsOnlyWords(body: unknown): boolean {
  const stack = [body]
  while (stack.length > 0) {
    const value = stack.pop()
    if (Array.isArray(value)) {
      for (const entry of value as unknown[]) if (isObject(entry)) stack.push(entry)
      continue
    }
    for (const [name, child] of Object.entries(objectOf(value) ?? {})) {
      const isKind = kindNames.has(name) && quietKinds.has(child)
      if (isKind || areApplied(name, child)) continue
      if (!wordNames.has(name) && (typeof child === 'string' || isObject(child))) return false
      if (name === 'value' && typeof child === 'string' && !isTextOfThread(value)) return false
      if (isObject(child)) stack.push(child)
    }
  }
  return true
}

/**
 * `{"id": "run_sql", "value": "DROP TABLE users"}` may be a call. OpenAI's assistants put a text this way,
 * with only annotations beside it.
 */
function isTextOfThread(value: unknown): boolean {
  return Object.keys(objectOf(value) ?? {}).every((name) => name === 'value' || name === 'annotations')
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

import { objectOf } from '#capture/json.ts'

/**
 * Names under which answers have words, labels, identifiers, vectors and counts, and objects of such. None of them is what a tool is, or what it is to do: no `name`, no `arguments`,
 * `input`, `args`, `parameters`, `action`, `code`, `command`, `function`, `tool` or `call` belongs here.
 */
const wordNames: ReadonlySet<string> = new Set([
  // Of all
  ...['id', 'model', 'data', 'text', 'texts', 'content', 'value', 'results', 'role', 'status', 'usage'],
  ...['finish_reason', 'finishReason', 'reason', 'token', 'tokens', 'language', 'response_type'],
  // Transcripts, those of Hugging Face with their `chunks` and Whisper's on Replicate
  ...['segments', 'words', 'word', 'speaker', 'chunks'],
  ...['transcription', 'translation', 'detected_language'],
  // Threads of OpenAI's assistants, and lists of models
  ...['thread_id', 'assistant_id', 'run_id', 'file_ids', 'file_id', 'first_id', 'last_id', 'annotations'],
  ...['file_citation', 'file_path', 'quote', 'image_file', 'detail', 'attachments'],
  ...['owned_by', 'display_name', 'created_at', 'permission', 'organization', 'root', 'parent'],
  // Completions of Titan, AI21, Cohere, and what Cohere ranks
  ...['outputText', 'completionReason', 'completions', 'prompt', 'generatedToken', 'topTokens'],
  ...['generations', 'token_likelihoods', 'document', 'meta', 'api_version', 'version', 'warnings'],
  // Vectors, and what is counted
  ...['embedding', 'embeddings', 'values', 'float', 'int8', 'uint8', 'binary', 'ubinary', 'billed_units'],
  ...['prompt_tokens_details', 'input_token_details', 'usage_info', 'metadata', 'textRange', 'timestamp'],
  ...['promptTokensDetails', 'cacheTokensDetails', 'modality'],
  // Text generation, and the tasks of Hugging Face
  ...['generated_text', 'details', 'prefill', 'top_tokens', 'best_of_sequences', 'translation_text'],
  ...['label', 'labels', 'sequence', 'entity', 'entity_group', 'answer', 'summary_text', 'token_str'],
  // Moderations
  ...['categories', 'category_scores'],
  // Documents that Mistral reads
  ...['pages', 'markdown', 'images', 'image_base64', 'image_annotation', 'document_annotation', 'header'],
  ...['footer', 'hyperlinks', 'tables', 'format', 'dimensions'],
])
/** What their objects say that they are: one of a kind that is not known may be a call. */
const quietKinds: ReadonlySet<unknown> = new Set([
  ...['list', 'model', 'model_permission', 'embedding', 'thread.message', 'text', 'image_file'],
  ...['file_citation', 'file_path', 'transcript.text.segment', 'duration', 'tokens'],
  ...['transcribe', 'translate'],
])
const kindNames: ReadonlySet<string> = new Set(['type', 'object', 'task'])
const modalities: ReadonlySet<unknown> = new Set(['text', 'image'])

/** Whether it says under the names of a moderation's categories which of words and pictures were looked at. */
function areApplied(name: string, value: unknown): boolean {
  if (name !== 'category_applied_input_types') return false
  return Object.values(objectOf(value) ?? {}).every(
    (types) => Array.isArray(types) && types.every((type) => modalities.has(type)),
  )
}

/**
 * Whether all strings, lists and objects of an answer stand under names that hold words, labels, identifiers and the like, all the way down: transcripts, moderations,
 * completions, lists, counts and vectors. No format that is known writes a call so, because something says what is called or with what: any other name makes this false,
 * whoever comes to use it for what. A number, and what is true or not, calls nothing under any name.
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

/** `{"id": "run_sql", "value": "DROP TABLE users"}` may be a call; OpenAI's assistants have a text so, with its annotations and nothing else. */
function isTextOfThread(value: unknown): boolean {
  return Object.keys(objectOf(value) ?? {}).every((name) => name === 'value' || name === 'annotations')
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

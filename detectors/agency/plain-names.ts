/** Field names in answers of known formats that never hold a call, whatever their values. */

/** Beside the words of an answer, in any format. */
export const quietFields: ReadonlySet<string> = new Set([
  ...['usage', 'metadata', 'error', 'urls', 'metrics', 'meta', 'citations', 'search_results', 'files'],
  ...['chat_history', 'search_queries', 'documents', 'detail', 'timings', 'retriever_resources'],
  ...['created_by', '$metadata', 'ResponseMetadata', 'logprobs'],
  // llama.cpp's own
  ...['generation_settings', 'completion_probabilities'],
])

/** Beside the choices, items or parts of an answer. An application's own answer may use them otherwise. */
export const besideParts: ReadonlySet<string> = new Set([
  // Responses repeat the request's settings
  ...['text', 'tools', 'tool_choice', 'instructions', 'reasoning', 'prompt', 'conversation', 'billing'],
  ...['incomplete_details', 'content_filters', 'moderation', 'prompt_cache_options', 'response_format'],
  ...['generation_config', 'system_instruction', 'agent_config', 'environment', 'labels', 'input'],
  ...['output_audio', 'output_image', 'output_video'],
  ...['container', 'context_management', 'stop_details', 'diagnostics'],
  // Gemini's and Bedrock's
  ...['promptFeedback', 'usageMetadata', 'modelStatus', 'sdkHttpResponse', 'prompt_feedback'],
  ...['automaticFunctionCallingHistory', 'usage_metadata', 'model_status'],
  ...['additionalModelResponseFields', 'trace', 'performanceConfig', 'serviceTier'],
  // Chat hosts
  ...['prompt_filter_results', 'prompt_annotations', 'prompt_logprobs', 'kv_transfer_params', 'x_groq'],
  ...['images', 'related_questions', 'time_info', 'warnings', 'openrouter_metadata', '_hidden_params'],
  ...['vertex_ai_grounding_metadata', 'vertex_ai_url_context_metadata', 'vertex_ai_safety_results'],
  ...['vertex_ai_citation_metadata', 'sources', 'nvext', 'meta_info', 'debug_output', 'errors'],
])

/** Beside the words of a choice, a message or a candidate. */
export const besideWords: ReadonlySet<string> = new Set([
  ...['annotations', 'citations', 'reasoning_details', 'thinking_blocks', 'images', 'audio', 'error'],
  ...['search_results', 'reasoning', 'thinking', 'logprobs', 'documents', 'context', 'parsed', 'metadata'],
  ...['response_metadata', 'usage_metadata', 'usage', 'provider_specific_fields', 'extra_content'],
  ...['content_filter_results', 'content_filter_result', 'prompt_logprobs', 'meta_info', 'hidden_states'],
  ...['citationMetadata', 'groundingMetadata', 'safetyRatings', 'urlContextMetadata', 'logprobsResult'],
  ...['citation_metadata', 'grounding_metadata', 'safety_ratings', 'url_context_metadata'],
  ...['groundingAttributions', 'logprobs_result', 'attachments', 'file_ids', 'artifact'],
])

/** Types of items and parts that only say, think, show or retrieve something. */
export const quietTypes: ReadonlySet<string> = new Set([
  ...['message', 'message.output', 'model_output', 'user_input', 'reasoning', 'thought', 'text'],
  ...['output_text', 'summary_text', 'reasoning_text', 'refusal', 'thinking', 'redacted_thinking'],
  ...['compaction', 'fallback', 'image', 'image_url', 'output_image', 'audio', 'output_audio', 'video'],
  ...['file', 'document', 'reference', 'image_file', 'container_upload', 'additional_tools', 'ai'],
  ...['mcp_approval_response', 'tool_reference', 'human', 'system', 'tool', 'context_compaction'],
  ...['tool_file', 'document_url'],
])

/** Names under which applications keep calls and their arguments. Words under any other name are words. */
export const callNames: ReadonlySet<string> = new Set([
  ...['action', 'actions', 'command', 'commands', 'cmd', 'run', 'exec', 'execute', 'script', 'shell', 'code'],
  ...['tool', 'tools', 'tool_name', 'tool_call', 'tool_calls', 'tool_input', 'function', 'functions'],
  ...['function_name', 'function_call', 'call', 'calls', 'invoke', 'arguments', 'args', 'argv', 'parameters'],
  ...['params', 'sql'],
])

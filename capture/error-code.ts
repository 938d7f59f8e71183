import { getSystemErrorMap } from 'node:util'

/**
 * The part of an error message that cannot quote anyone, for zero content retention: `TypeError` of
 * `TypeError: no customer Jane Doe`. Classes are recognised by their form, but codes only by a list, as a
 * name may look like one (`JANE_DOE`).
 */
export function codeOfError(error: string): string {
  const [name = ''] = error.split(': ', 1)
  return classOfError.test(name) || codes.has(name) ? name : 'error'
}

const classOfError = /^[A-Za-z]{0,40}(?:Error|Exception)$/

const codes = new Set([
  ...[...getSystemErrorMap().values()].map(([name]) => name),
  ...[
    // Sluice
    'RATE_LIMITED INGEST_QUOTA_EXCEEDED BACKEND_UNAVAILABLE',
    // Google and gRPC
    'CANCELLED INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED',
    'FAILED_PRECONDITION OUT_OF_RANGE DATA_LOSS UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED INTERNAL ABORTED',
    // OpenAI and Azure
    'context_length_exceeded rate_limit_exceeded insufficient_quota invalid_api_key model_not_found content_filter',
    'content_policy_violation string_above_max_length unsupported_parameter unsupported_value server_error',
    // Anthropic
    'invalid_request_error authentication_error permission_error not_found_error request_too_large rate_limit_error',
    'billing_error timeout_error api_error overloaded_error',
    // OAuth
    'invalid_request invalid_client invalid_grant invalid_scope invalid_token insufficient_scope access_denied',
    'unauthorized_client unsupported_grant_type temporarily_unavailable',
  ].flatMap((line) => line.split(' ')),
])

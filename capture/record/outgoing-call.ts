import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { sealedIdentity, type SealedBytes, type SealedPart } from '#schemas/sealed-bytes.ts'
import type { SignCall } from '../search/search-signature.ts'
import type { CallBodies } from './read-bodies.ts'

/** What is published of a call, by topic. */
export interface OutgoingCall {
  /** For the retained topic. */
  logged: LoggedCall
  /** For the ephemeral topic; null: nothing. */
  ephemeral: LoggedCall | null
}

/** What is sealed of a call. */
export interface CallContent extends CallBodies {
  preview: Buffer | null
}

/**
 * Content under zero retention goes only to the ephemeral topic, without a search signature; the call's row
 * goes to the retained one. Erased bodies imply zero retention.
 */
export function outgoingCall(
  call: LoggedCall,
  { requestBody, responseBody, preview }: CallContent,
  seal: (bytes: Buffer, identity: string) => SealedBytes,
  sign: SignCall,
): OutgoingCall {
  if (requestBody === null) return { logged: { ...call, zero_content_retention: true }, ephemeral: null }
  const sealed = (bytes: Buffer, part: SealedPart) =>
    seal(bytes, sealedIdentity(call.project_id, call.id, part))
  const whole: LoggedCall = {
    ...call,
    request_body: sealed(requestBody, 'request_body'),
    response_body: responseBody === null ? null : sealed(responseBody, 'response_body'),
  }
  if (call.zero_content_retention) return { logged: call, ephemeral: whole }
  return {
    logged: {
      ...whole,
      preview: preview === null ? null : sealed(preview, 'call_preview'),
      search: sign(call.project_id, [requestBody, responseBody]),
    },
    ephemeral: null,
  }
}

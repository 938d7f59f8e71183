import { parseBody, readCall, type Call, type Usage } from '../call-text.ts'
import type { Detector, Finding, Undecided } from '../verdict.ts'

/** A detector's conclusion on a call, as run by the scorer. */
export function detectCall(
  create: (call: Call) => Detector,
  request: unknown,
  response: unknown = null,
  usage?: Usage,
): Finding | Undecided {
  const answer = response === null ? null : parseBody(JSON.stringify(response))
  return detectRead(create, readCall(parseBody(JSON.stringify(request)), answer, usage))
}

/** The same for a parsed call, as JSON.stringify overflows on deep nesting. */
export function detectRead(create: (call: Call) => Detector, call: Call): Finding | Undecided {
  const detector = create(call)
  for (const text of call.texts) detector.read(text)
  return detector.finding()
}

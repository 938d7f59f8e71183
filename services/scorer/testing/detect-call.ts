import { parseBody, readCall, type Call, type Usage } from '../scoring/call-text.ts'
import type { Detector, Finding, Undecided } from '../scoring/verdict.ts'

/** What a detector says of a call, as the scorer runs it. */
export function detectCall(
  create: (call: Call) => Detector,
  request: unknown,
  response: unknown = null,
  usage?: Usage,
): Finding | Undecided {
  const answer = response === null ? null : parseBody(JSON.stringify(response))
  const call = readCall(parseBody(JSON.stringify(request)), answer, usage)
  const detector = create(call)
  for (const text of call.texts) detector.read(text)
  return detector.finding()
}

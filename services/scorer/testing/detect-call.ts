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
  return detectRead(create, readCall(parseBody(JSON.stringify(request)), answer, usage))
}

/** The same of a call that was read: what is nested thousands deep cannot be made into JSON here. */
export function detectRead(create: (call: Call) => Detector, call: Call): Finding | Undecided {
  const detector = create(call)
  for (const text of call.texts) detector.read(text)
  return detector.finding()
}

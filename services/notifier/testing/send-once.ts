import type { AttemptResult, Sender } from '../sending/send-attempt.ts'

/** One attempt, and what came of it. */
export function sendOnce(
  sender: Sender,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): Promise<AttemptResult> {
  return new Promise((resolve) => sender.send(url, headers, body, resolve))
}

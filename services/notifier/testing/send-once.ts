import type { AttemptResult, Sender } from '../sending/send-attempt.ts'

/** One attempt, and what came of it. */
export function sendOnce(
  sender: Sender,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  isQuick = true,
): Promise<AttemptResult> {
  return new Promise((resolve) => sender.send({ url, headers, body, isQuick }, resolve))
}

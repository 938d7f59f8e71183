import type { EmbeddedPart } from './embedded-part.ts'

/** Starts all parts at once. If one fails, stops the others before throwing its error. */
export async function startTogether(
  starts: readonly (() => Promise<EmbeddedPart>)[],
): Promise<EmbeddedPart[]> {
  const outcomes = await Promise.allSettled(starts.map((start) => start()))
  const started = outcomes.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value)
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (!failed) return started
  await stopTogether(started)
  throw failed.reason
}

export async function stopTogether(parts: readonly EmbeddedPart[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()))
}

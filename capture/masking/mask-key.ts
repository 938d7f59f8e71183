import { createHmac } from 'node:crypto'

/** The key of a project's placeholders. */
export type MaskKeyOf = (projectId: string) => Buffer

/**
 * An HMAC of the project's id under the first key of SEARCH_KEY: who has that can test guesses against search
 * signatures already. A new first key makes new placeholders. Null without a key.
 */
export function createMaskKeys([first]: readonly { key: Buffer }[]): MaskKeyOf | null {
  if (first === undefined) return null
  return (projectId) => createHmac('sha256', first.key).update(`sluice.mask:${projectId}`).digest()
}

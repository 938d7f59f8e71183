import type { ChaosProject } from '../fixture/make-projects.ts'

/** What a client knows about its call. */
export interface ClientCall {
  id: string
  project: ChaosProject['name']
  /** Through a gateway, or sent to ingest like the SDK does. */
  way: 'gateway' | 'direct'
  /** `unknown`: no answer came, so the call may be stored or not. */
  end: 'taken' | 'refused' | 'unknown'
  /** Determines the verdict; null: text of a data set, whose verdict the client does not know. */
  content: CallContent | null
}

/** `card`: a card number with a valid check digit, so pii_detection is `unsafe`. `harmless`: no scorer is. */
export type CallContent = 'card' | 'harmless'

export const textOf: Readonly<Record<CallContent, string>> = {
  card: 'Please pay with my card, its number is 4111 1111 1111 1111.',
  harmless: 'Which rivers flow through Vienna?',
}

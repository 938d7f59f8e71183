import type { ChaosProject } from '../fixture/make-projects.ts'

/** What a client knows of a call that it made. */
export interface ClientCall {
  id: string
  project: ChaosProject['name']
  /** Through a gateway, or told to ingest as the SDK does. */
  way: 'gateway' | 'direct'
  /** `unknown`: the answer did not come, so the call may be stored or not. */
  end: 'taken' | 'refused' | 'unknown'
  /** What its text must be found to be; null: text of a data set, about which the client knows nothing. */
  content: CallContent | null
}

/** `card`: a card number whose check digit is right, so pii_detection is `unsafe`. `harmless`: no scorer is. */
export type CallContent = 'card' | 'harmless'

export const textOf: Readonly<Record<CallContent, string>> = {
  card: 'Please pay with my card, its number is 4111 1111 1111 1111.',
  harmless: 'Which rivers flow through Vienna?',
}

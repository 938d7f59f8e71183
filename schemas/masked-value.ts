/** Where a value was masked. */
export const maskedPlaces = ['request_body', 'response_body', 'error'] as const
export type MaskedPlace = (typeof maskedPlaces)[number]

/** How many values of one kind were masked in one place before the call was stored. */
export interface MaskedValue {
  /** As detectors name it: `email_address`, `payment_card`, `secret` … */
  kind: string
  place: string
  count: number
}

/** Kinds times places; a record with more is not of a masker. */
export const maxMaskedEntries = 100

export const maskedValueAvro = {
  type: 'record',
  name: 'MaskedValue',
  fields: [
    { name: 'kind', type: 'string' },
    { name: 'place', type: 'string' },
    { name: 'count', type: 'int' },
  ],
} as const

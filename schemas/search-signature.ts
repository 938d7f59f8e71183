/**
 * A Bloom filter of a call's words as keyed hashes, made where its bodies are sealed (capture/search). No
 * `bits`: the call has too many words and is opened at every search.
 */
export interface SearchSignature {
  /** Of SEARCH_KEY. */
  key_id: string
  bits: Buffer
}

export const searchSignatureAvro = {
  type: 'record',
  name: 'SearchSignature',
  namespace: 'sluice',
  fields: [
    { name: 'key_id', type: 'string' },
    { name: 'bits', type: 'bytes' },
  ],
} as const

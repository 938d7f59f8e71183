/** Scopes of a key as shown on the page. */
export const scopeNames = {
  ingest: 'Record calls',
  read: 'Read',
  all: 'Record and read',
} as const

/** What a key allows, in the words of the page. */
export const scopeNames = {
  ingest: 'Record calls',
  read: 'Read',
  all: 'Record and read',
} as const

/** What Node says of a server that is away, or of a way to it that is: trying again can help. */
export const networkCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // A socket in the file system whose server is not up yet.
  'ENOENT',
])

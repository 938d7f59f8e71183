/** Calls of models that read or make sound and pictures. */
const ofMedia =
  /\/(?:images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations))$/

/** Whether a POST to `path` (its query is ignored) is such a call. */
export function isMediaCall(path: string): boolean {
  return ofMedia.test(path.split('?', 1)[0] ?? '')
}

const mediaTypes = /^(?:audio|image|video)\//

/** Whether a body of this content type has no words. */
export function isMediaType(contentType: string): boolean {
  return mediaTypes.test(contentType)
}

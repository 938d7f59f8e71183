/** The nonce of this answer of the server: by it the content security policy lets the library's style elements pass. */
export function contentNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
}

/** Says the nonce to what puts style elements in by itself (the lock on scrolling behind a dialog asks by this name). */
export function announceNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: contentNonce() })
}

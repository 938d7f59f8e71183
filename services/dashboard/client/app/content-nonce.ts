/**
 * The nonce of this page, with which the content security policy admits the component library's style
 * elements.
 */
export function contentNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
}

/** Publishes the nonce for a library that adds style elements itself (the scroll lock behind dialogs). */
export function announceNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: contentNonce() })
}

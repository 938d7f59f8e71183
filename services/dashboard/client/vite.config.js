import { join } from 'node:path'

/** Vite's own JSX transform; everything is served from the dashboard's own address, hashed names may be kept for ever. */
export default {
  root: import.meta.dirname,
  // The server puts a fresh nonce in its place with each answer: the library's theme is a style element.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: join(import.meta.dirname, '..', 'dist'),
    emptyOutDir: true,
    target: 'es2023',
    // Pictures and fonts as data: URLs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      onLog(level, log, say) {
        // 'use client' means something to a server that renders; there is none.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') say(level, log)
      },
    },
  },
  server: { proxy: { '/bff': 'http://127.0.0.1:3000' } },
}

import { join } from 'node:path'

/**
 * Vite's own JSX transform. Everything is served from one origin, and hashed files are cacheable for ever.
 */
export default {
  root: import.meta.dirname,
  // The server replaces it by a nonce per page: the library's theme is a style element.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: join(import.meta.dirname, '..', 'dist'),
    emptyOutDir: true,
    target: 'es2023',
    // Assets as data: URLs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      onLog(level, log, say) {
        // 'use client' only matters to server-side rendering, which is not used.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') say(level, log)
      },
    },
  },
  server: { proxy: { '/bff': 'http://127.0.0.1:3000' } },
}

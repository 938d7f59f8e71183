import { z } from 'zod'
import { milliseconds } from '#runtime/config.ts'

export const websocketFields = {
  UPSTREAM_WEBSOCKETS: z
    .enum(['true', 'false'])
    .optional()
    .transform((text) => (text === undefined ? undefined : text === 'true'))
    .describe(
      'Whether WebSockets of Realtime, Responses and Gemini Live are forwarded to UPSTREAM_URL; otherwise they get 426. Unset: where the provider is known to have them, which are OpenAI, Azure OpenAI, xAI and Google.',
    ),
  WEBSOCKET_IDLE_TIMEOUT_MS: milliseconds(900_000, 86_400_000).describe(
    'How long a WebSocket may be silent in both directions until it is closed. CALL_TIMEOUT_MS limits its whole life.',
  ),
}

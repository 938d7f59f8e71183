/** Why the gateway closes a socket that its peers would keep (RFC 6455, 7.4.1). */
export const closeCodes = { goingAway: 1001, policy: 1008 } as const
export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes]

/** A Close frame for the application, or masked (by zeros) for the provider. */
export function closeFrame(code: CloseCode, isMasked: boolean): Buffer {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  const header = isMasked ? [0x88, 0x82, 0, 0, 0, 0] : [0x88, 0x02]
  return Buffer.concat([Buffer.from(header), payload])
}

import { send } from './call-api.ts'

/** Long after the browser has begun to read it. */
const keptMs = 60_000

/**
 * Saves the answer of a URL as a file. Browsers buffer large answers on disk; a download link would not
 * report failures.
 */
export async function saveFile(address: string, name: string): Promise<void> {
  const response = await send(address)
  const content = await response.blob().catch((cause: unknown) => {
    throw new Error('The answer broke off before its end; nothing was saved.', { cause })
  })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), keptMs)
}

import { send } from './call-api.ts'

/** Long after a browser has begun to read it. */
const keptMs = 60_000

/** Saves what an address answers as a file. Browsers keep large answers on the disk until then, and of a link that downloads the page is never told that it failed. */
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

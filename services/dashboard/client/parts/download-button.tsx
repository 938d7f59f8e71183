import { Button, type ButtonProps } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { notifyResult } from './confirm-action.tsx'
import { send } from '../api/call-api.ts'

interface File {
  address: string
  name: string
}

/** Saves a file and shows a notification of success or failure. */
export function useDownload(): { isUnderWay: boolean; download: (file: File) => void } {
  const saving = useMutation({ mutationFn: ({ address, name }: File) => saveFile(address, name) })
  return {
    isUnderWay: saving.isPending,
    download: (file) => void notifyResult(saving.mutateAsync(file), `${file.name} is saved.`),
  }
}

/** Downloads an export of the API. */
export function DownloadButton({ address, name, ...rest }: File & ButtonProps) {
  const { isUnderWay, download } = useDownload()
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} aria-hidden />}
      loading={isUnderWay}
      onClick={() => download({ address, name })}
      {...rest}
    />
  )
}

/** Long after the browser has begun to read it. */
const keptMs = 60_000

/**
 * Saves the answer of a URL as a file. Browsers buffer large answers on disk; a download link would not
 * report failures.
 */
async function saveFile(address: string, name: string): Promise<void> {
  const response = await send(address)
  const content = await response.blob().catch((cause: unknown) => {
    throw new Error('The download was interrupted; nothing was saved.', { cause })
  })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), keptMs)
}

import { accessSync, constants, statSync } from 'node:fs'
import { z } from 'zod'
import { tlsFilesOf } from './config-addresses.ts'
import { messageOf } from './errors.ts'

/**
 * A variable naming a file or folder that the service reads. It must exist at start. `holding` describes the
 * expected content in the error. A default is not checked: it ships with the program.
 */
export function readablePath(kind: 'file' | 'folder', holding: string) {
  return z.string().superRefine((path, context) => {
    const problem = problemOf(path, kind)
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: `expected a ${kind} with ${holding}, but ${problem}` })
  })
}

/** For the files in a Postgres URL: pg would report a missing one as an absent server, which is retried. */
export function readableTlsFiles(url: string, context: z.RefinementCtx): void {
  for (const { parameter, path } of tlsFilesOf(url)) {
    const problem = problemOf(path, 'file')
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: `expected a file in ${parameter}, but ${problem}` })
  }
}

function problemOf(path: string, kind: 'file' | 'folder'): string | undefined {
  try {
    accessSync(path, constants.R_OK)
    const isOfKind = kind === 'folder' ? statSync(path).isDirectory() : statSync(path).isFile()
    return isOfKind ? undefined : `${path} is none`
  } catch (error) {
    return messageOf(error)
  }
}

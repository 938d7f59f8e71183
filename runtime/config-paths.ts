import { accessSync, constants, statSync } from 'node:fs'
import { z } from 'zod'
import { tlsFilesOf } from './config-addresses.ts'
import { messageOf } from './errors.ts'

/**
 * A variable that names what a service reads itself: it has to be there when the process starts. `holding` says to a person what is expected
 * in it. A default is not looked at: it goes with the program.
 */
export function readablePath(kind: 'file' | 'folder', holding: string) {
  return z.string().superRefine((path, context) => {
    const problem = problemOf(path, kind)
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: `expected a ${kind} with ${holding}, but ${problem}` })
  })
}

/** For a URL of Postgres: one that is not there would be taken for a server that is away, and tried again. */
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

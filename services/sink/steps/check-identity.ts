import { PermanentError } from '#runtime/errors.ts'
import { isId } from '#schemas/ids.ts'

/** Why a record that names no request can never be stored; undefined when it can. */
export function checkIdentity(projectId: string, requestId: string): PermanentError | undefined {
  if (!isId('project', projectId)) return invalid('project_id', projectId, 'prj_')
  if (!isId('request', requestId)) return invalid('request id', requestId, 'req_')
  return undefined
}

function invalid(field: string, value: string, prefix: string): PermanentError {
  const shown = JSON.stringify(value.slice(0, 40))
  return new PermanentError(
    'INVALID_IDENTIFIER',
    `${field} ${shown} is not an identifier that starts with ${prefix}`,
  )
}

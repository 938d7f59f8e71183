/** The roles that the API's connections take. */
export interface DatabaseRoles {
  /** Sees a project's rows in a transaction that names the project, and none otherwise. */
  api: string
  /** Sees every project. */
  operator: string
}

/** Roles belong to the whole server. A prefix separates two installations. */
export function databaseRoles(prefix: string): DatabaseRoles {
  return { api: `${prefix}sluice_api`, operator: `${prefix}sluice_operator` }
}

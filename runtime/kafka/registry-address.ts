interface RegistryAddress {
  /** Without credentials, so that it may be logged, and without a trailing slash. */
  host: string
  auth?: { username: string; password: string }
}

/** Splits SCHEMA_REGISTRY_URL into address and credentials. */
export function registryAddress(url: string): RegistryAddress {
  const { origin, pathname, username, password } = new URL(url)
  const host = origin + pathname.replace(/\/+$/, '')
  if (username === '' && password === '') return { host }
  return { host, auth: { username: decodeURIComponent(username), password: decodeURIComponent(password) } }
}

/** Requests `path` of the registry. `fetch` refuses a URL with credentials, and repeats it in its error. */
export function fetchRegistry(url: string, path: string, init: RequestInit): Promise<Response> {
  const { host, auth } = registryAddress(url)
  const headers = new Headers(init.headers)
  if (auth !== undefined) {
    const credentials = Buffer.from(`${auth.username}:${auth.password}`).toString('base64')
    headers.set('authorization', `Basic ${credentials}`)
  }
  return fetch(host + path, { ...init, headers })
}

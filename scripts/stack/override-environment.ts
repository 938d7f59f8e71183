import type { Environment } from '#runtime/config.ts'

/** `environment` with these values, also where files (NAME_FILE) held others. */
export function overrideEnvironment<T extends Environment>(
  environment: Environment,
  values: T,
): Environment & T {
  const files = new Set(Object.keys(values).map((name) => `${name}_FILE`))
  const kept = Object.entries(environment).filter(([name]) => !files.has(name))
  return { ...Object.fromEntries(kept), ...values }
}

import type { Environment } from '#runtime/config.ts'

/** `environment` with these values, also replacing values in files (NAME_FILE). */
export function overrideEnvironment<T extends Environment>(
  environment: Environment,
  values: T,
): Environment & T {
  const files = new Set(Object.keys(values).map((name) => `${name}_FILE`))
  const kept = Object.entries(environment).filter(([name]) => !files.has(name))
  return { ...Object.fromEntries(kept), ...values }
}

/**
 * `environment`, completed by those values that it does not set itself, directly or in a file (NAME_FILE).
 */
export function completeEnvironment(environment: Environment, values: Environment): Environment {
  const isGiven = (name: string) => Boolean(environment[name]) || Boolean(environment[`${name}_FILE`])
  const missing = Object.entries(values).filter(([name]) => !isGiven(name))
  return overrideEnvironment(environment, Object.fromEntries(missing))
}

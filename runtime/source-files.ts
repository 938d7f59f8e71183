/** The files that a configuration was read from, for those that read them again. */
const sourceFiles = Symbol('files of NAME_FILE')

/** `NAME_FILE` of those of the variables that have one. */
export function filesOf(
  names: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const files = names.map((name) => [name, environment[`${name}_FILE`]?.trim() ?? ''] as const)
  return Object.fromEntries(files.filter(([, path]) => path !== ''))
}

/** The configuration with where it came from; copies of it keep that. */
export function withSourceFiles<T extends object>(config: T, files: Record<string, string>): T {
  return Object.keys(files).length === 0 ? config : Object.assign(config, { [sourceFiles]: files })
}

/** The file that a variable of this configuration was read from; undefined: none. */
export function sourceFileOf(config: object, name: string): string | undefined {
  return (config as { [sourceFiles]?: Record<string, string> })[sourceFiles]?.[name]
}

/** JSON text of `object` with further members whose values are JSON already and stay byte for byte. */
export function writeJson(
  object: Readonly<Record<string, unknown>>,
  raw: Readonly<Record<string, Buffer>>,
): string {
  const members = Object.entries(raw).map(
    ([name, json]) => `${JSON.stringify(name)}:${json.toString('utf8')}`,
  )
  const text = JSON.stringify(object)
  const separator = text === '{}' || members.length === 0 ? '' : ','
  return `${text.slice(0, -1)}${separator}${members.join(',')}}`
}

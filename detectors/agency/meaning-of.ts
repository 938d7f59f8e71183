/** Argument names whose values are told to somebody and executed by no tool. */
const messageKeys =
  keys(`message messages comment comments title subject description summary note notes question answer caption reason explanation
  old_string new_string old_str new_str file_text insert_text search search_query keywords`)
/** Written, said or searched for by most tools; a shell also has its commands under these names. */
const textKeys = keys('content contents text body prompt html markdown diff patch')
const queryKeys = keys('sql query queries q statement stmt')
/** Tools that execute their arguments, by a word of their name. */
const shells = words(
  'bash sh zsh shell cmd powershell pwsh terminal console command commands ssh exec subprocess python repl interpreter redis mongo mongosh mongodb',
)
const dataBases = words('sql psql postgres postgresql mysql mariadb sqlite cypher neo4j database db')
/** Tools with such names that only produce text: `search_commands`, `write_python`. */
const speaks = words(
  'write create edit save send search find explain describe format lint doc docs help read log post ask',
)

/** Its argument is a document, whatever its name. */
const patchTool = /(?<![a-z])apply_patch(?![a-z])/

/** What a tool's string argument is, by its or its list's name: command, query, or text. */
export function meaningOf(label: string, tool: string): 'command' | 'query' | 'words' {
  const key = snakeCase(label)
  if (messageKeys.has(key)) return 'words'
  const name = snakeCase(tool.slice(0, 200))
  if (patchTool.test(name)) return 'words'
  const isText = textKeys.has(key)
  if (!isText && !queryKeys.has(key)) return 'command'
  if (!speaks.test(name)) {
    if (shells.test(name)) return 'command'
    if (dataBases.test(name)) return 'query'
  }
  return isText ? 'words' : 'query'
}

function keys(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/))
}

function words(list: string): RegExp {
  return new RegExp(`(?<![a-z])(?:${list.replaceAll(' ', '|')})(?![a-z])`)
}

function snakeCase(name: string): string {
  return name.replace(/([a-z])(?=[A-Z])/g, '$1_').toLowerCase()
}

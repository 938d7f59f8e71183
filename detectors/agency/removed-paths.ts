/** `rm` with its arguments, to the end of the command. Not `git rm` or `docker rm`. */
export const removal =
  /(?<!\b(?:git|docker|podman|npm|yarn|pnpm|conda|vercel|buildah|s3|gsutil|storage|volume|bq|ipfs|-|\.|--)\s{0,4})(?<![\w.-])(?:["']{2})?r(?:["']{2})?m(?=[\s"$,])(?:\\\n|(?:["']?,\s{0,4}["'])|\$\{IFS\}|[^\n;|&<>`)]){1,400}/g

const everything =
  /^(?:\/(?:\*|etc|usr|var|home|root|boot|bin|sbin|lib|opt|Users|System)?\/?\*?|~\/?\*?|\$\{?HOME\}?\/?\*?|\.{1,2}\/?\*?|\*|[A-Z]:\\?\*?)$/
/** Build output, downloads and temporary files: easily recreated. */
const madeAgain =
  /^(?:\.\/)?(?:[\w@.-]{1,60}\/){0,6}(?:node_modules|dist|build|target|out|output|coverage|__pycache__|\.?cache|\.[\w-]{0,20}[_-]?cache|\.(?:next|nuxt|turbo|venv|tox|gradle|terraform|eggs|nyc_output|output|vite|angular|svelte-kit|idea)|venv|env|vendor|tmp|temp|bin|obj|Pods|DerivedData|logs?|[\w*.-]{0,60}\.(?:egg-info|pyc|o|log|tmp|class)|(?:package-lock|yarn|pnpm-lock|poetry|Gemfile|composer)[\w.-]{0,10}(?:json|lock|yaml))(?:\/[\w*.@/-]{0,200})?$/i
const temporary =
  /^(?:\/(?:private\/)?(?:var\/)?tmp\/[^\s]{1,200}|\/dev\/shm\/.{1,200}|~\/\.cache(?:\/.{0,200})?|(?:~|\/Users\/[\w.-]{1,40})?(?:\/System)?\/Library\/(?:Caches|Logs)(?:\/.{0,200})?|~\/\.(?:Trash|npm|gradle\/caches|m2\/repository|pytest_cache)(?:\/.{0,200})?|(?:\/private)?\/var\/folders\/.{1,200}|\$\(mktemp.{0,40}|\$\{?\w{0,20}(?:tmp|temp|build|work|dist|out|cache|stag)\w{0,20}\}?(?:\/.{0,200})?)$/i

/** Severity of an `rm`: 5 if nothing is left, 0 if it removes only recreatable or single files. */
export function judgeRemoval(command: string): 0 | 4 | 5 {
  const words = command
    .replace(/\$\{IFS\}|\\\n|["']?,\s{0,4}["']/g, ' ')
    .replace(/["']/g, '')
    .trim()
    .split(/\s+/)
    .slice(1)
  const options = words.filter((word) => word.startsWith('-'))
  const paths = words.filter((word) => !word.startsWith('-') && word !== '\\')
  const isRecursive = options.some((option) => /^-[a-z]*r/i.test(option) || option === '--recursive')
  if (!isRecursive || paths.length === 0) return 0
  const isForced = options.some(
    (option) => /^-[a-z]*f/i.test(option) || option === '--force' || /^-fo/i.test(option),
  )
  const taken = paths.filter((path) => path.includes('..') || !(madeAgain.test(path) || temporary.test(path)))
  if (taken.length === 0) return 0
  if (taken.some((path) => everything.test(path))) return 5
  return isForced || taken.some((path) => /^[/~$]|\*/.test(path)) ? 4 : 0
}

import { findMatches } from '../find-matches.ts'
import { findGated, gatePattern } from '../gate/gated-pattern.ts'
import type { WordStarts } from '../gate/word-starts.ts'
import type { Identifier } from './identifier.ts'
import {
  isCodePath,
  isPlaceholder,
  isRandom,
  passwordStrength,
  valueClass,
  withoutEnding,
} from './told-value.ts'
import { wordGate } from './word-gate.ts'

const value = (min: number) => String.raw`["']?(${valueClass}{${min},200})`

interface Place {
  pattern: RegExp
  /** Its place alone says that it is a password; elsewhere the value must look like one. */
  isCertain?: true
}

/** Where commands and files have a password. The last group is the value. */
const places: readonly Place[] = [
  { pattern: new RegExp(String.raw`\bsshpass\s{1,3}-p\s{0,2}${value(4)}`, 'g'), isCertain: true },
  {
    pattern: new RegExp(
      String.raw`\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mycli|7z|7za)\b[^\n|;]{0,120}?\s-p${value(4)}`,
      'g',
    ),
  },
  {
    pattern: new RegExp(
      String.raw`\b(?:curl|wget|httpie)\b[^\n|;]{0,200}?\s(?:-u|--user|-a|--auth|--proxy-user)[\s=]{0,2}["']?[^\s:"']{1,64}:(${valueClass}{4,128})`,
      'g',
    ),
  },
  {
    pattern: new RegExp(
      String.raw`\b(?:docker login|podman login|helm|skopeo|oc login|az login|ldapsearch|ldapmodify|redis-cli|mongo|mongosh|mongodump|mongorestore|sqlcmd|influx|clickhouse-client|keytool|unzip|zip|rabbitmqadmin|smbclient|xfreerdp)\b[^\n|;]{0,120}?\s(?:-p|-w|-P|-a|--password|--pass|-storepass|-keypass|/p:)[ =]{0,2}${value(4)}`,
      'g',
    ),
  },
  // .netrc and .pgpass
  {
    pattern: new RegExp(
      String.raw`\b(?:machine\s{1,4}\S{1,128}|default)\s{1,8}login\s{1,4}\S{1,128}\s{1,8}password\s{1,4}${value(4)}`,
      'g',
    ),
    isCertain: true,
  },
  { pattern: new RegExp(String.raw`\b(?:requirepass|masterauth)\s{1,4}${value(4)}`, 'g') },
  { pattern: new RegExp(String.raw`(?<![\w.-])auth\s?[:=]\s{0,3}["'](${valueClass}{6,128})["']`, 'g') },
  {
    pattern: new RegExp(
      String.raw`\bidentified\s{1,3}(?:with\s{1,3}[\w'"]{1,32}\s{1,3})?by\s{1,3}["'](${valueClass}{4,128})["']`,
      'gi',
    ),
  },
  {
    pattern: new RegExp(
      String.raw`\b(?:login|encrypted|with)\s{1,3}password\s{1,3}'(${valueClass}{4,128})'`,
      'gi',
    ),
  },
  { pattern: new RegExp(String.raw`\bnet use\b[^\n]{0,120}?/user:\S{1,64}\s${value(4)}`, 'gi') },
  {
    pattern: new RegExp(
      String.raw`\bConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?["'](${valueClass}{4,128})["']`,
      'gi',
    ),
  },
  { pattern: new RegExp(String.raw`\s-pass(?:in|out)?\s{1,3}pass:${value(4)}`, 'g') },
  { pattern: new RegExp(String.raw`\brabbitmqctl add_user\s{1,3}\S{1,64}\s{1,3}${value(4)}`, 'g') },
]

/** Long, random values of fields whose name ends in "key", "token" or "secret". */
const namedKey =
  /(?:KEY|TOKEN|SECRET|PAT|CREDENTIALS?|[Kk]ey|[Tt]oken|[Ss]ecret)["']?\s{0,2}[:=]\s{0,2}["']?(?:[Bb]earer )?([A-Za-z0-9+/=_.~-]{20,200})/g
/** The names: of environments, settings and headers. They end where the match begins. */
const nameBefore =
  /(?<![\w-])(?:(?:[A-Z][A-Z0-9]{0,24}_){1,6}|(?:[A-Za-z0-9]{1,24}[_-]){0,5}(?:app|application|subscription|service|storage|openai|azure|datadog|admin|license|functions|search)[_-]?|(?:[A-Za-z0-9]{1,24}-){1,5})$/
/** Keys that are meant to be seen, or that only name a row or a file. */
const publicKey =
  /(?:public|publishable|cache|primary|partition|sort|foreign|idempotency|host|row|object|object-s3|index|lookup|dedup(?:e|lication)?|group|range|hash|shard|csrf|xsrf|page|next|continuation|cursor|i18n|translation|sitekey|site|issue|project|ssh-host)[_-]?(?:key|token)["']?\s{0,2}[:=]/i
const envPassword = new RegExp(String.raw`(?:PASSWORD|PASSWD|PASS|PWD)=${value(6)}`, 'g')
/** Before `:` and a database, a port or any. Cheaper than reading the beginning of each line. */
const likePgpass = /:(?:\d{2,5}|\*):[\w.*-]{1,64}:/

const pgpass = {
  gated: gatePattern(
    new RegExp(
      String.raw`^[\w.*-]{1,128}:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:(${valueClass}{6,128})$`,
      'gm',
    ),
  ),
  isCertain: undefined,
}
/** The words of all places: cheaper than asking each of them. */
const mayHavePlace = wordGate(
  'sshpass mysql mysqldump mariadb mycli 7z 7za curl wget httpie docker podman helm skopeo oc az ldapsearch redis mongo sqlcmd influx click keytool unzip zip rabbitmqadmin smbclient xfreerdp machine default requirepass masterauth auth identified password net convertto pass passin passout',
)
const gatedPlaces = places.map(({ pattern, isCertain }) => ({ gated: gatePattern(pattern), isCertain }))
const maxFound = 200

/** Secrets in commands, configuration files, environments and headers. `starts`: of this text. */
export function* findCommandSecrets(text: string, starts: WordStarts): Generator<Identifier> {
  const worth = [...(mayHavePlace(text) ? gatedPlaces : []), ...(likePgpass.test(text) ? [pgpass] : [])]
  for (const { gated, isCertain } of worth) {
    for (const match of findGated(text, starts, gated, maxFound)) {
      const written = match.at(-1) ?? ''
      const isOne = isCertain
        ? !isPlaceholder(written) && !isCodePath(written) && !written.startsWith('$')
        : passwordStrength(written) !== null
      if (isOne) yield secretAtEnd(match, written, written)
    }
  }
  for (const match of findMatches(text, namedKey, maxFound)) {
    const written = match[1] ?? ''
    const given = withoutEnding(written)
    const name = text.slice(Math.max(0, match.index - 60), match.index)
    if (given.length < 20 || !nameBefore.test(name) || publicKey.test(name + match[0]) || !isKey(given))
      continue
    yield secretAtEnd(match, written, given)
  }
  for (const match of findMatches(text, envPassword, maxFound)) {
    const written = match[1] ?? ''
    if (passwordStrength(written) !== null) yield secretAtEnd(match, written, written)
  }
}

/** Digits and letters mixed throughout, not words joined by hyphens, dots or underscores. */
function isKey(given: string): boolean {
  if (!isRandom(given) || isPlaceholder(given) || isCodePath(given)) return false
  const isHexadecimal = /^[\da-f]{24,}$/i.test(given)
  const longestRun = Math.max(...given.split(/[^A-Za-z0-9]/).map((run) => run.length))
  return isHexadecimal || (longestRun >= 16 && (given.match(/\d/g)?.length ?? 0) >= 3)
}

/** A quotation mark may stand after the value, never inside. */
function secretAtEnd(match: RegExpExecArray, written: string, given: string): Identifier {
  const start = match.index + match[0].lastIndexOf(written)
  return { kind: 'secret', start, end: start + given.length }
}

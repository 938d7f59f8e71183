import type { Identifier } from './identifier.ts'
import { findMatches } from '../find-matches.ts'
import { findGated, gatePattern } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'
import { findCommandSecrets } from './find-command-secrets.ts'
import { findToldSecrets } from './find-told-secrets.ts'
import { isCodePath, isPlaceholder, isRandom } from './told-value.ts'

/** From first to last line, or as far as it goes, with blanks, escaped line ends and quotes of code. */
const privateKey =
  /-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[\s\\rn]{0,4}[A-Z][A-Za-z-]{1,20}: [^\n\\]{0,200}){0,5}(?:(?!-----)[A-Za-z0-9+/=\s\\:,;"'>|-]){0,16000}(?:-----END [A-Z ]{1,40}-----)?/g
/** The end of a key whose start precedes the text, read backwards from its last line. */
const endOfPrivateKey =
  /(?<=([A-Za-z0-9+/=\s\\"'>|]{20,16000}))-----END (?:[A-Z]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const base64Line = /[A-Za-z0-9+/=]{20}/

/** Keys recognisable by prefix. Lengths are the issuers' documented ones, or a safe minimum. */
const knownSecrets = [
  /\b(?:AKIA|ASIA|AROA|AIDA)[A-Z2-7]{16}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{36,251}\b/g,
  /\bgithub_pat_[A-Za-z0-9_]{60,90}\b/g,
  /\bglpat-[A-Za-z0-9_-]{20,60}/g,
  // With a digit, and a longer run of letters and digits than names of classes or packages have.
  /\bsk-(?=[A-Za-z0-9_-]{0,60}\d)(?=[A-Za-z0-9_-]{0,40}[A-Za-z0-9]{16})(?:proj-|svcacct-|ant-(?:api|admin)\d{2}-)?[A-Za-z0-9_-]{20,200}/g,
  /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,250}\b/g,
  /\bwhsec_[A-Za-z0-9+/=]{24,100}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,250}/g,
  /\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
  /\bya29\.[A-Za-z0-9_-]{20,300}/g,
  /\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /\bpypi-[A-Za-z0-9_-]{50,300}/g,
  /\bhf_[A-Za-z0-9]{30,60}\b/g,
  /\bdop_v1_[a-f0-9]{64}\b/g,
  /\bGOCSPX-[A-Za-z0-9_-]{24,40}/g,
  /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b/g,
  /\bdapi[a-f0-9]{32}\b/g,
  /\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,60}/g,
  /\b(?:lin_api_|ntn_|gsk_|xai-|r8_|figd_|glsa_|sntrys_|dckr_pat_|pscale_(?:pw|tkn)_|ATATT3|hv[sb]\.|dp\.(?:pt|st|ct)\.)[A-Za-z0-9_=-]{20,300}/g,
  /\b(?:sbp_[a-f0-9]{40}|NRAK-[A-Z0-9]{27}|key-[a-f0-9]{32}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|AGE-SECRET-KEY-1[A-Z0-9]{58})\b/g,
  /\b\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/g,
  /\bhttps:\/\/(?:hooks\.slack\.com\/services|discord(?:app)?\.com\/api\/webhooks)\/[A-Za-z0-9_/-]{20,120}/g,
  /\bhttps:\/\/[a-z0-9-]{1,63}\.webhook\.office\.com\/webhookb2\/[A-Za-z0-9@/-]{40,300}/g,
  /\bhttps:\/\/chat\.googleapis\.com\/v1\/spaces\/[\w-]{4,40}\/messages\?key=[\w-]{20,60}&token=[\w%-]{20,100}/g,
  /\bhttps:\/\/[\w.-]{4,120}\.logic\.azure\.com[:\d]{0,4}\/workflows\/[^\s"'<>]{20,300}&sig=[\w%-]{20,100}/g,
  /\bbot\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/g,
  /\bsvc_(?:[a-z0-9]{1,32}_)?[0-9a-f]{48}\b/g,
  // Signed, or cut off at the end of the text.
  /\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}(?:\.[A-Za-z0-9_-]{16,1000}|\.?[A-Za-z0-9_-]{0,15}$)/g,
  privateKey,
]

/** User and password before a host; the group is the password. */
const credentialsInUrl =
  /\b(?:postgres(?:ql)?|mysql|mariadb|mssql|sqlserver|mongodb(?:\+srv)?|rediss?|amqps?|https?|ftps?|sftp|smtps?|ldaps?):\/\/[^\s:@/"'<>]{0,64}:([^\s:@/"'<>]{3,128})@/g
/** `password = …` and similar. The value counts if it is too random for a word or a placeholder. */
const assignedSecret = new RegExp(
  [
    String.raw`(?:(?:(?<![A-Za-z0-9])(?:(?:db|pg|my|sql|root|admin|user)?(?:password|passwd|passphrase|pwd|pass)|passwort|kennwort|mot de passe|contraseña|contrasena|senha|wachtwoord|пароль|парола`,
    String.raw`|api[ _-]?key|secret(?:[ _-]?(?:access[ _-]?)?key)?|(?:access|account|encryption|signing|master|shared[ _-]?access|private)[ _-]?key`,
    String.raw`|(?:api|auth|access|refresh|bearer|bot|gh|github|gitlab|slack|personal[ _-]?access)[ _-]?token|client[ _-]?secret)|密码|密碼|口令|パスワード|비밀번호)`,
    String.raw`["']?(?:\s{0,3}[:=：]=?>?|\s{1,3}(?:is|ist|lautet|est|es|é|è)(?=\s)|(?<=--(?:password|passwd|api-key|token))\s|(?<=<\w{4,12})>)\s{0,3}["']?`,
    String.raw`|\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s{1,3})`,
    String.raw`([^\s"'\x60,;<>{}()[\]]{8,200})`,
  ].join(''),
  'gi',
)
/** In every assigned secret: a tenth of its cost. */
const namesSecret =
  /pass|pwd|kennwort|contrase|senha|wachtwoord|парол|key|token|secret|authorization|密码|密碼|口令|パスワード|비밀번호/i
const gatedSecrets = knownSecrets.map(gatePattern)
const gatedCredentials = gatePattern(credentialsInUrl)
const gatedEnd = gatePattern(endOfPrivateKey)

export function* findSecrets(text: string): Generator<Identifier> {
  const starts = wordStartsOf(text)
  for (const gated of gatedSecrets) {
    for (const match of findGated(text, starts, gated)) {
      // "ghp_xxxxxxxx" in documentation.
      if (gated.pattern !== privateKey && /([A-Za-z0-9])\1{7}/.test(match[0])) continue
      yield { kind: 'secret', start: match.index, end: match.index + match[0].length }
    }
  }
  for (const match of findGated(text, starts, gatedEnd)) {
    const before = match[1] ?? ''
    const end = match.index + match[0].length
    if (base64Line.test(before)) yield { kind: 'secret', start: match.index - before.length, end }
  }
  for (const match of findGated(text, starts, gatedCredentials)) {
    if (!isPlaceholder(match[1] ?? ''))
      yield { kind: 'secret', start: match.index, end: match.index + match[0].length }
  }
  for (const match of namesSecret.test(text) ? findMatches(text, assignedSecret) : []) {
    const value = match[1] ?? ''
    if (!isRandom(value) || isPlaceholder(value) || isCodePath(value)) continue
    const start = match.index + match[0].length - value.length
    yield { kind: 'secret', start, end: start + value.length }
  }
  yield* findCommandSecrets(text, starts)
  yield* findToldSecrets(text)
}

import ipaddr from 'ipaddr.js'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { Identifier } from './identifier.ts'
import { findMatches } from '../find-matches.ts'

// RFC 5321 limits the local part to 64 characters, which bounds the search.
const emailPattern =
  /(?<![A-Za-z0-9\p{sc=Cyrillic}\p{sc=Greek}._%+-])(?![\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}])[\p{L}\p{N}_](?:(?![\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}])[\p{L}\p{N}._%+'-]){0,63}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}[\p{L}]{2,24}/gu
/** RFC 2606 domains and other documentation domains: nobody's addresses. */
const reservedDomain =
  /(?:^|\.)(?:example(?:\.\w{2,3}){0,2}|test|invalid|localhost|local|localdomain|tld|(?:your|my|some)-?(?:domain|company|site|app|org)\.\w{2,4}|(?:domain|email|company|test|foo|bar)\.com)$/i
/** File names with a screen density, and versions: `logo@2x.png`, `left-pad@1.2.3.tgz`. */
const fileEnding =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|tgz|gz|zip|js|ts|tsx|css|json|html?|swift|py|rb|go|rs|java|kt|php|md|ya?ml|toml|sh|cs|cpp)$/i
/** Mailboxes of organisations, teams and lists, also with the organisation's name: `acme-security`. */
const rolePart =
  /^(?:[\p{L}\p{N}]{1,32}[-._+])?(?:no-?reply|do-?not-?reply|git|postmaster|mailer-daemon|security|support|info|contact|help(?:desk)?|sales|press|hello|team|admin|office|abuse|legal|privacy|jobs|careers|billing|webmaster|newsletter|feedback|noemail|conduct|coc|maint(?:ainers?)?|devel(?:opers)?|dev|announce|users|list|bugs?|psirt|cert|vulnerabilit(?:y|ies)|disclosure|community|moderators?|infra|ops|devops|marketing|media|hr|recruiting|accounts?|invoices?|orders?|service|customer-?(?:service|care)|kontakt|kundenservice|vertrieb|bewerbung|contacto|ventas|contato|atendimento|serwis|biuro|reklamacje|bilgi|destek|datenschutz|dpo|gdpr)(?:[-._+][\p{L}\p{N}]{1,32})?$/iu
/** Hosts of mailing lists. */
const listDomain =
  /^(?:googlegroups\.com|groups\.io|lists?\.[\w.-]{3,80}|users\.noreply\.github\.com|[\w-]{1,40}\.noreply\.[\w.-]{3,60})$/i

/** Addresses spelled out against bots: "jane (at) acme (dot) io". */
const spelledEmail =
  /(?<![\p{L}\p{N}])[\p{L}\p{N}._%+-]{1,64} ?[[({<] ?at ?[\])}>] ?[\p{L}\p{N}-]{1,63}(?:(?: ?[[({<] ?(?:dot|punkt|punto|point) ?[\])}>] ?|\.)[\p{L}\p{N}-]{2,63}){1,4}/giu

export function* findEmails(text: string): Generator<Identifier> {
  for (const match of /at ?[\])}>]/i.test(text) ? findMatches(text, spelledEmail) : [])
    yield { kind: 'email_address', start: match.index, end: match.index + match[0].length }
  if (!text.includes('@')) return
  for (const match of findMatches(text, emailPattern)) {
    const at = match[0].indexOf('@')
    const domain = match[0].slice(at + 1)
    if (reservedDomain.test(domain) || listDomain.test(domain) || fileEnding.test(domain)) continue
    if (rolePart.test(match[0].slice(0, at))) continue
    yield { kind: 'email_address', start: match.index, end: match.index + match[0].length }
  }
}

const ipv4Pattern = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d]|\.\d)/g
/** In every IPv6 address. Costs a tenth of searching for one. */
const twoColons = /:[0-9a-f]{0,4}:/i
const ipv6Pattern = /(?<![\p{L}\p{N}:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\p{L}\p{N}:])/giu
/** Four numbers are as often a version. */
const versionBefore =
  /(?:(?:\bv|version|versions|release|build|chapter|section|firmware|driver|revision|upgrade|python|java|jdk|jre|node|chrome|firefox|xcode|windows|ios|android|macos|oid)[\s:=("'\]]{0,4}|==|[a-z]-|\w\/[\w.-]{1,40}:)$/i
/** A version goes on, and is part of a file's name. */
const versionAfter =
  /^(?:-(?:alpha|beta|rc|dev|snapshot|release)|\.(?:jar|tgz|zip|exe|msi|deb|rpm|whl|dll|so)\b)/i
/** Numbers of sections, object identifiers and small versions look like addresses with small numbers. */
const addressWord =
  /\b(?:ips?|ip ?v?[46]|address(?:es)?|hosts?|hostname|servers?|clients?|peers?|ping|ssh|from|remote|addr|gateway|nameserver|dns|router|login|connect(?:ed|ion)?|tcp|udp|curl|https?)\b[^\n]{0,24}$/i
const maxSmall = 31

function isOtherNumber(found: string, text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 40), at)
  // One group and two colons are a path in Rust or C++.
  if (found.includes(':')) return found.split(':').filter((group) => group !== '').length < 2
  if (/oid\b|object ?identifier/i.test(before)) return true
  return found.split('.').every((part) => Number(part) <= maxSmall) && !addressWord.test(before)
}

/** Public DNS resolvers. */
const publicService =
  /^(?:1\.[01]\.[01]\.1|8\.8\.[48]\.[48]|9\.9\.9\.9|208\.67\.22[02]\.22[02]|149\.112\.112\.112)$/

/** Public addresses only. Private, loopback, documentation and reserved ranges belong to nobody. */
export function* findIpAddresses(text: string): Generator<Identifier> {
  for (const pattern of twoColons.test(text) ? [ipv4Pattern, ipv6Pattern] : [ipv4Pattern]) {
    for (const match of findMatches(text, pattern)) {
      if (!ipaddr.isValid(match[0]) || ipaddr.parse(match[0]).range() !== 'unicast') continue
      const end = match.index + match[0].length
      if (versionBefore.test(text.slice(Math.max(0, match.index - 50), match.index))) continue
      if (versionAfter.test(text.slice(end, end + 12)) || publicService.test(match[0])) continue
      if (isOtherNumber(match[0], text, match.index)) continue
      yield { kind: 'ip_address', start: match.index, end }
    }
  }
}

// Seven to fifteen digits in at most seven groups, one or two separators between them, and an extension.
// Scripts without spaces have letters beside them.
// Groups are maximal: if a run of 90 digits could split anywhere, the search took 2.4 s.
const phonePattern =
  /(?<![\p{N}_.:/#$€£-]|(?![\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}])\p{L})(?<!\d,)(?:\+|\(\+?)?\d{1,15}(?!\d)(?:(?:\)[ \u00a0.\-/()]{0,2}|[ \u00a0.\-/()]{1,2})\d{1,15}(?!\d)){0,6}(?:(?: ?x| ?ext\.? ?)\d{1,6})?(?![\p{N}_]|(?![\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}])\p{L}|[.,:/-]\d|%)/gu
/** A number has at least seven digits with at most three signs between two. */
const sevenDigits = /\d(?:[ \u00a0.\-/()]{0,3}\d){6}/
/** Words for a telephone, in the languages of most callers. */
const phoneWord =
  /(?:(?<![\p{L}\p{N}])(?:phones?|tel|tél|tlf|telephone|telefon|telefonnummer|telefonnr|telefono|teléfono|téléphone|telefone|telefoon|telefonu|mobile|mobil|móvil|handy|handynummer|portable|cell|cellphone|cel|celular|gsm|fax|sms|whatsapp|call (?:me|us|him|her|them)|телефон\p{L}{0,3}|тел|моб)(?![\p{L}\p{N}])|电话|電話|手机|手機|携帯|전화|휴대폰|هاتف|جوال|☎|📞|📱)/iu
/** Words also used of telephones. A bare run of digits beside them is as often something else. */
const callWord =
  /(?<![\p{L}\p{N}])(?:call|calls|called|dial|text|signal|contact|reach|ring|desk|office|extension|number|messages to|answering at|line)(?![\p{L}\p{N}])/iu
const phoneWordAfter =
  /^(?:[\s\\,\-–(:]{0,4}(?:office|fax|mobile|cell|home|work|desk|phone|tel)\b| (?:is|was|as) (?:my|his|her|their|our|the|your) (?:\w{1,12} ){0,2}(?:phone|mobile|cell|number|line)\b)/i
const datePattern =
  /^(?:(?:1[89]|20|21)\d{2}([-/. ])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])|(?:0?[1-9]|[12]\d|3[01])([-/.])(?:0?[1-9]|[12]\d|3[01])\2(?:\d{2}|(?:1[89]|20|21)\d{2}))(?:[ T]\d{1,2})?$/
const groupedLikePhone =
  /^(?:\(\d{1,4}\)[ -]?\d{2,4}[ .-]\d{2,4}(?:[ .-]\d{2,4})?|0\d{1,4}(?:[ .-]\d{2,4}){2,4}|[2-9]\d{2}([-. ])[2-9]\d{2}\1\d{4})$/

/** Free, shared-cost and premium numbers are companies', in any notation. */
const companyNumber =
  /^(?:\+?1[-. ]?)?\(?(?:800|888|877|866|855|844|833|900)\)?[-. ]\d{3}[-. ]?\d{4}$|^(?:\+|00)?800[ -]?\d|^(?:\+?(?:49|44|33|39|34|31|48|7|90|81)[ -]?(?:\(0\))?|0 ?|8[ -]?\(?)(?:800|900|180[1-6]?|0?120|84[345]|87[0-3]|8(?=[0-9]\d[ ]\d\d)|137|901|902)(?:\)?[ -]|\d{6})/
/** What a company calls its lines. A person's number may be beside "call". */
const companyLine =
  /(?:\b(?:hotline|help ?line|help ?desk|toll[- ]free|customer (?:service|support|care)|support (?:line|team|desk)?|service cent(?:er|re)|switchboard|reservations|kundenservice|kundendienst|kundtjänst|kundeservice|asiakaspalvelu|service clients?|atendimento|sac|num[eé]ro vert|atenci[oó]n al cliente|servizio clienti|numero verde|klantenservice|infolinia|biuro obs[lł]ugi)\b|горячая линия|служба поддержки|客服|热线|熱線|フリーダイヤル|お客様センター|고객센터|müşteri hizmetleri|خدمة العملاء)[^\n]{0,40}$/iu

/** North American numbers reserved for fiction and documentation. */
const fictional = /(?:^|\D)555\)?[ .-]{0,2}01\d{2}$/

/** International numbers known to libphonenumber; others if grouped or named as one. Not dates. */
export function* findPhoneNumbers(text: string): Generator<Identifier> {
  if (!sevenDigits.test(text)) return
  for (const match of findMatches(text, phonePattern)) {
    const [found = ''] = match[0].split(/ ?x| ?ext/)
    const digits = found.replace(/\D/g, '').length
    if (digits < 7 || digits > 15 || datePattern.test(found) || fictional.test(found)) continue
    if (companyNumber.test(found)) continue
    if (companyLine.test(text.slice(Math.max(0, match.index - 80), match.index))) continue
    const end = match.index + match[0].length
    if (isPhone(found, text.slice(Math.max(0, match.index - 40), match.index), text.slice(end, end + 48))) {
      yield { kind: 'phone_number', start: match.index, end }
    }
  }
}

function isPhone(found: string, before: string, after: string): boolean {
  const international = found.replace(/^\(?\+/, '+').replace(/^00/, '+')
  if (international.startsWith('+')) {
    // A trunk zero in brackets ("+44 (0)20 …") is for domestic callers.
    const number = parsePhoneNumberFromString(international.replace('(0)', ''))
    if (number?.isPossible() === true) return true
  }
  // Grouped like a social security number: one of those, or nothing.
  if (/^\d{3}-\d{2}-\d{4}$/.test(found)) return false
  if (groupedLikePhone.test(found)) return true
  // A North American local number. Before a capitalised word it is more often a street address.
  if (/^[2-9]\d{2}[ -]\d{4}$/.test(found) && /^(?:\s*$|[.!?,;)\n]| [a-z])/.test(after)) return true
  // Only words on this line or the one above refer to the number.
  const near = before.split('\n').slice(-2).join('\n')
  if (phoneWord.test(near) || phoneWordAfter.test(after)) return true
  return callWord.test(near) && (/\D/.test(found) || /^(?:0|[2-9]\d{2})\d{7,9}$/.test(found))
}

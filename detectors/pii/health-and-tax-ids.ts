import { passesDea, passesLuhn } from './check-digits.ts'
import { named, type DocumentRule } from './document-rule.ts'

/** Numbers of patients, prescribers and taxpayers, wallets, and Arab identity numbers. */
export const furtherNumberRules: readonly DocumentRule[] = [
  {
    kind: 'national_id',
    pattern: /(?<![\d-])9\d{2}([- ]?)(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\1\d{4}(?![\d-])/g,
    accepts: () => true,
    needs: named('itin|taxpayer|individual taxpayer identification'),
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)[12]\d{9}(?!\d)/g,
    accepts: () => true,
    needs: named('npi|national provider(?: identifier)?'),
  },
  {
    kind: 'national_id',
    pattern: /\b[ABCDEFGHJKLMPRSTUX][A-Z9]\d{7}\b/g,
    accepts: passesDea,
    needs: named('dea'),
  },
  {
    kind: 'national_id',
    pattern:
      /\b[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y\d]\d-?[AC-HJKMNP-RT-Y]{2}\d{2}\b/g,
    accepts: () => true,
    needs: /\b(?:medicare|mbi|beneficiary)\b/i,
  },
  {
    kind: 'national_id',
    pattern:
      /(?<!\d)[23]\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:0[1-4]|1[1-9]|2[1-9]|3[1-5]|88)\d{5}(?!\d)/g,
    accepts: () => true,
    needs: /قومي|القومية|بطاقة|national id/i,
  },
  {
    kind: 'national_id',
    pattern: /(?<!\d)[12]\d{9}(?!\d)/g,
    accepts: passesLuhn,
    needs: /هوية|الإقامة|iqama|saudi id/i,
  },
  {
    kind: 'wallet_address',
    pattern: /\b0x[\da-f]{40}\b/gi,
    accepts: () => true,
    needs:
      /\b(?:my|his|her|our|their|customer'?s?|mine)\b[^\n]{0,40}$|\bwallet\b[^\n]{0,24}$|кошел|cartera|portefeuille|carteira|钱包|錢包|محفظة/i,
  },
  {
    kind: 'wallet_address',
    pattern: /\b(?:bc1[02-9ac-hj-np-z]{38,58}|[13][1-9A-HJ-NP-Za-km-z]{25,34})\b/g,
    accepts: (text) => /\d/.test(text),
    needs: /\b(?:bitcoin|btc|wallet)\b[^\n]{0,40}$|кошел|钱包|محفظة/i,
  },
  // Where somebody lives, as coordinates.
  {
    kind: 'geo_position',
    pattern: /(?<![\d.])-?\d{1,2}\.\d{4,8}°?,\s?-?\d{1,3}\.\d{4,8}(?![\d.])/g,
    accepts: () => true,
    needs:
      /(?:\b(?:liv(?:es?|ed|ing)|home|house|flat|resid(?:es?|ence)|patient|wohnt|zuhause|habite|domicile|vive|casa|mora|mieszka|woont|bor|oturuyor)\b|живёт|живет|живу|住|살)[^\n]{0,40}$/iu,
  },
]

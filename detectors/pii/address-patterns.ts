import { wordGate } from './word-gate.ts'

const cap = String.raw`\p{Lu}[\p{L}'’.-]{0,30}`
const caps = (max: number) => String.raw`(?:${cap} ){1,${max}}`
const link = String.raw`(?:(?:de|del|della|delle|dei|degli|di|da|das|do|dos|du|des|la|las|le|les|los|l['’]|d['’]|e|y|of|the) ?){0,3}`
/** Flat, floor and building, which belong to an address. */
const flat = String.raw`(?:,? {0,2}\n? {0,4}(?:Apt|Apartment|Unit|Suite|Ste|Flat|Floor|Room|#|Whg|Wohnung|appt|apto|bajo|piso|lok|m|byt|kv|кв|корп|к|стр|daire|D|Kat)[.:]? ?(?:[\p{Lu}\d][\p{L}\d/-]{0,6}))?`

/** What stands for a street, and a number. */
const streetAndNumber =
  / \d(?<=(?:Straße|Strasse|Str\.|Allee|Weg|Platz|Ring|Damm|Gasse|Vej|Gade|tee|põik|utca|út|útja|tér) \d)/
/** A number, and a capital: all capitals outside ASCII are from U+00C0. */
const numberAndCapital = /\d[A-Za-z]?,? [A-Z\u00c0-\uffff]/
const mayHaveStreet = wordGate(
  'street st str avenue ave av road rd lane ln drive dr court ct boulevard blvd way walk place pl square sq terrace ter close highway hwy crescent cres parkway pkwy trail trl circle cir grove gardens mews rise row hill park quay loop alley',
)
const mayHaveCalle = wordGate(
  'calle avenida avda plaza paseo camino carrera cra via viale corso piazza vicolo largo rua travessa praça alameda estrada rúa strada bulevardul πλατεία',
)
const germanPlace = /\b(?:A[mn]|Auf|I[mn]|Unter|Zu[mr]|Beim|Hinter) (?:de[mnr] )?[A-ZÄÖÜ]/
const turkishStreet = /Cad(?:desi|\.)|Cd\.|Sok(?:ağı|ak|\.)|Sk\.|Mah(?:allesi|\.)|Bulvarı|Blv\./
const polishPlace = /\b(?:ul|al|os|pl)\.|ulic|alej|plac |nám|třída|tř\./
/** Words that end in "street", and a number. */
export const streetEnding =
  / \d(?<=(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|allee|ring|damm|ufer|steig|graben|markt|gade|vej|stræde|gatan|gata|vägen|väg|gränd|straat|laan|plein|kade|gracht|dreef|veien|vei|gaten|braut|stígur|vegur|katu|tie|kuja|polku|utca|útja|ulica|iela|gatvė|moor)s? \d)/
const cyrillic = /\p{sc=Cyrillic}/u
const eastAsian = /[\u3400-\u9fff\uac00-\ud7af]/
const arabic = /[\u0600-\u06ff]/

/** A form, and a cheap test whether a text may have it. */
export interface AddressForm {
  form: RegExp
  mayMatch: (text: string) => boolean
}

/** Forms of street addresses: by country, what stands for "street" and where the number is. */
export const addressForms: readonly AddressForm[] = [
  // 14 Lime Walk · 221b Baker Street Apt. 3
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}.,$€£])(?:\d{1,6} )?\d{1,6}[A-Za-z]?,? (?:(?:[NSEW]|NE|NW|SE|SW|North|South|East|West)\.? )?${caps(4)}(?:Street|St|Str|Avenue|Ave|Av|Road|Rd|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Way|Walk|Place|Pl|Square|Sq|Terrace|Ter|Close|Highway|Hwy|Crescent|Cres|Parkway|Pkwy|Trail|Trl|Circle|Cir|Grove|Gardens|Mews|Rise|Row|Hill|Park|Quay|Loop|Alley)(?![\p{L}\p{N}])\.?${flat}`,
      'gu',
    ),
    mayMatch: (text) => numberAndCapital.test(text) && mayHaveStreet(text),
  },
  // 12 rue de la Paix · 33 avenue de Provence
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}.,$€£])(?:\d{1,6} )?\d{1,5}(?: ?(?:bis|ter))?,? (?:[Rr]ue|[Aa]venue|[Aa]v\.?|[Bb]oulevard|[Bb]d\.?|[Pp]lace|[Cc]hemin|[Aa]llée|[Ii]mpasse|[Qq]uai|[Cc]ours|[Rr]oute|[Ss]quare|[Ss]entier|[Rr]úa|[Rr]ua|[Vv]ia|[Cc]alle) ${link}${cap}(?: ${link}${cap}){0,3}${flat}`,
      'gu',
    ),
    mayMatch: wordGate(
      'rue avenue av boulevard bd place chemin allée impasse quai cours route square sentier rúa rua via calle',
    ),
  },
  // Bahnhofstraße 5 · Sludevej 13 · Mellemstræde 74 · Koskikatu 25
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\d{1,6} )?(?:\p{Lu}\. ?)?(?:${cap} ){0,2}\p{Lu}[\p{L}'’-]{0,40}(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|allee|ring|damm|ufer|steig|graben|markt|gade|vej|stræde|gatan|gata|vägen|väg|gränd|straat|laan|plein|kade|gracht|dreef|veien|vei|gaten|braut|stígur|vegur|katu|tie|kuja|polku|utca|útja|ulica|iela|gatvė|moor|ssä|ninkatu)s? \d{1,5}(?: ?[a-z])?(?![\p{L}\p{N}])${flat}`,
      'gu',
    ),
    mayMatch: (text) => streetEnding.test(text),
  },
  // Augsburger Strasse 36 · Am Markt 5 · Unter den Linden 77
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\d{1,6} )?(?:${cap} ){1,2}(?:Straße|Strasse|Str\.|Allee|Weg|Platz|Ring|Damm|Gasse|Vej|Gade|tee|põik|utca|út|útja|tér) \d{1,5}(?: ?[a-z])?\.?(?![\p{L}\p{N}])${flat}`,
      'gu',
    ),
    mayMatch: (text) => streetAndNumber.test(text),
  },
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:Am|An der|Auf dem|Auf der|Im|In der|In den|Unter den|Zum|Zur|Beim|Hinter dem) \p{Lu}[\p{L}-]{2,30} \d{1,4}[a-z]?(?![\p{L}\p{N}:.])${flat}`,
      'gu',
    ),
    mayMatch: (text) => germanPlace.test(text),
  },
  // Via Roma 131 · Calle Mayor, nº 7 · Rua João Pessoa 1636
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\d{1,6} )?(?:[Cc]alle|C/|[Aa]venida|Av\.|Avda\.|Avda|Av|[Pp]laza|[Pp]aseo|[Cc]amino|[Cc]arrera|Cra\.|[Vv]ia|[Vv]iale|[Cc]orso|[Pp]iazza|[Vv]icolo|[Ll]argo|[Rr]ua|[Tt]ravessa|[Pp]raça|[Aa]lameda|[Ee]strada|[Rr]úa|[Ss]trada|[Ss]tr\.|Bd\.|[Bb]ulevardul|Πλατεία|Οδός|οδός) ?${link}${cap}(?: ${link}${cap}){0,4},? ?(?:n[º°.o] ?|#|núm\. ?|nr\. ?|N\. ?)?\d{1,5}(?:-\d{1,4})?(?![\p{L}\p{N}])${flat}`,
      'gu',
    ),
    mayMatch: (text) => text.includes('C/') || mayHaveCalle(text),
  },
  // ul. Chrzanowska 61/4 · ул. Ленина, д. 5, кв. 12 · Dlouhá tř. 7
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\d{1,6} )?(?:ul\.|ulic[ay]|al\.|alej[aię]|os\.|pl\.|plac|nám\.|náměstí|tř\.|třída|ulici) ?(?:${cap} ){0,3}${cap} \d{1,5}[a-z]?(?:/\d{1,4})?(?![\p{L}\p{N}])${flat}`,
      'gu',
    ),
    mayMatch: (text) => polishPlace.test(text),
  },
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:ул\.|улиц[аеы]|пр\.|пр-т|просп\.|проспекте?|пер\.|переул(?:ок|ке)|бульваре?|б-р|шоссе|наб\.|набережн(?:ая|ой)|площад[ьи]|вул\.|вулиц[яі]) ?(?:\d{1,3}-\p{L}{1,3} )?\p{Lu}[\p{L}.-]{1,30}(?: \p{Lu}?[\p{L}.-]{1,30}){0,2},? ?(?:д\.|дом|буд\.|будинок)? ?\d{1,4}[\p{L}]?(?:/\d{1,4})?(?:,? ?(?:кв|корп|к|стр|квартира)\.? ?\d{1,4}){0,3}`,
      'gu',
    ),
    mayMatch: (text) => cyrillic.test(text),
  },
  // Atatürk Caddesi No: 12 D: 4
  {
    form: new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${cap} ){1,4}(?:Caddesi|Cad\.|Cd\.|Sokağı|Sokak|Sok\.|Sk\.|Mahallesi|Mah\.|Bulvarı|Blv\.)(?: (?:${cap} ){0,3}(?:Caddesi|Cad\.|Sokağı|Sokak|Sok\.|Sk\.))?,? ?(?:No ?[:.]? ?)?\d{1,4}(?:/\d{1,4})?(?![\p{L}\p{N}])${flat}`,
      'gu',
    ),
    mayMatch: (text) => turkishStreet.test(text),
  },
  // 北京市朝阳区建国路88号 · 東京都渋谷区神南1-2-3 · 서울특별시 강남구 테헤란로 12
  {
    form: /(?:\p{sc=Han}{2,8}(?:省|自治区|市|区|區|县|縣)){1,3}[\p{sc=Han}\d]{0,16}(?:路|街|道|巷|弄|胡同|大道|村|镇)[\p{sc=Han}]{0,4}\d{1,5}(?:号|號|弄)(?:[\p{sc=Han}]{0,6}\d{1,4}(?:栋|幢|单元|室|号楼|号|楼|层|樓)){0,4}/gu,
    mayMatch: (text) => eastAsian.test(text),
  },
  {
    form: /\p{sc=Han}{2,3}[都道府県][\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー々ヶ]{2,20}?(?:\d{1,4}(?:丁目|番地?|号|[-−‐ー])?){1,4}(?![\d年月日])/gu,
    mayMatch: (text) => eastAsian.test(text),
  },
  {
    form: /(?:[가-힣]{1,8}(?:특별시|광역시|특별자치시|시|도) ?)?[가-힣]{1,8}(?:구|군|시) [가-힣\d]{1,12}(?:로|길|동) ?\d{1,4}(?:-\d{1,4})?(?:번길 ?\d{1,4})?(?:,? ?\d{1,4}(?:동|호)){0,2}/gu,
    mayMatch: (text) => eastAsian.test(text),
  },
  // شارع الملك فهد رقم 12
  {
    form: /(?:شارع|حي|طريق) [\u0621-\u064a]{2,16}(?: [\u0621-\u064a]{2,16}){0,3},? ?(?:رقم |مبنى |بناية |عمارة )?[\d\u0660-\u0669]{1,5}/gu,
    mayMatch: (text) => arabic.test(text),
  },
  // Boxes and military mail
  {
    form: /(?<![\p{L}\p{N}])(?:\d{1,6} )?(?:P\.? ?O\.? ?Box|Postfach|Boîte [Pp]ostale|Apartado(?: [Pp]ostal)?|Apdo\.|Caixa [Pp]ostal|Casella [Pp]ostale|Postbus|Skr(?:ytka)? [Pp]ocztowa) (?:n[º°o.] ?)?\d{1,6}/gu,
    mayMatch: wordGate('box postfach boîte apartado apdo caixa casella postbus skrytka'),
  },
  {
    form: /(?<![\p{L}\p{N}])(?:(?:PSC|Unit|UNIT|CMR) \d{1,5},? [Bb][Oo][Xx] \d{1,5}|USN[SV] \p{Lu}[\p{L}]{1,30})(?:,?\s{1,3}[ADF]PO A[AEP],? \d{5})?/gu,
    mayMatch: wordGate('psc unit cmr usns usnv'),
  },
]

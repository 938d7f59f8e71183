/** Kinds of personal identifiers and secrets, with the severity of seeing one: 4 (high) or 5 (critical). */
export const identifierKinds = {
  payment_card: { level: 5, singular: 'payment card number', plural: 'payment card numbers' },
  iban: { level: 5, singular: 'IBAN', plural: 'IBANs' },
  national_id: {
    level: 5,
    singular: 'national identification number',
    plural: 'national identification numbers',
  },
  driver_licence: { level: 5, singular: 'driver licence number', plural: 'driver licence numbers' },
  passport: { level: 5, singular: 'passport number', plural: 'passport numbers' },
  secret: { level: 5, singular: 'key or secret', plural: 'keys or secrets' },
  email_address: { level: 4, singular: 'e-mail address', plural: 'e-mail addresses' },
  phone_number: { level: 4, singular: 'phone number', plural: 'phone numbers' },
  ip_address: { level: 4, singular: 'IP address', plural: 'IP addresses' },
  wallet_address: { level: 4, singular: 'wallet address', plural: 'wallet addresses' },
  geo_position: { level: 4, singular: 'position of a home', plural: 'positions of homes' },
  street_address: { level: 4, singular: "person's address", plural: "persons' addresses" },
  birth_date: { level: 4, singular: 'date of birth', plural: 'dates of birth' },
} as const satisfies Record<string, { level: 4 | 5; singular: string; plural: string }>

export type IdentifierKind = keyof typeof identifierKinds

/** A personal identifier or a secret, and its location (UTF-16 offsets). */
export interface Identifier {
  kind: IdentifierKind
  start: number
  end: number
}

/** Finds one kind of identifier in linear time: every repetition in a pattern is bounded. */
export type IdentifierFinder = (text: string) => Iterable<Identifier>

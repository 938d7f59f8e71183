/** A command that brings in foreign code, and its assessment. */
export interface Install {
  /** 1 to 5; 3 is left to the judge. */
  value: number
  kind: string
  start: number
  end: number
  /** The package's, where it may be the caller's own module. */
  name?: string
}

export type Judge = (match: RegExpMatchArray) => Omit<Install, 'start' | 'end'> | null

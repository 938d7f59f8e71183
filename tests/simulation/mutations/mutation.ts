/** A plausible mistake, as a replacement in our code. */
export interface Mutation {
  file: string
  /** Is in the file exactly once. */
  find: string
  replace: string
}

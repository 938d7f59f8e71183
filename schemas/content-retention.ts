/** Longest retention of content in days, in every store. A project can only ask for less. */
export const contentDays = 90

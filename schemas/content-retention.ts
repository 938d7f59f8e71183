/** Days for which what people wrote is kept at most, wherever it lies; a project can only ask for less. */
export const contentDays = 90

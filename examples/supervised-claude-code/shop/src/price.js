/** What a customer pays, in cents. */
export const price = (cents, discountPercent = 0) => Math.round(cents * (1 - discountPercent / 100))

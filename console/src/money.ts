/** `$1.23`, `$0.0042`. Small amounts keep two digits that say something. Null: there is no price. */
export function moneyText(amount: number | null, currency: string): string {
  if (amount === null) return '–'
  const isSmall = amount > 0 && amount < 1
  const digits = isSmall ? Math.min(9, Math.max(2, 1 - Math.floor(Math.log10(amount)))) : 2
  return format(amount, currency, digits)
}

/** The money of an axis: whole, or with two digits and more. */
export const axisMoney = (amount: number, currency: string, step: number): string =>
  format(amount, currency, step % 1 === 0 ? 0 : Math.max(2, digitsOf(step)))

/** `0.25` has two. */
function digitsOf(step: number): number {
  let digits = 0
  while (digits < 9 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) digits += 1
  return digits
}

function format(amount: number, currency: string, digits: number): string {
  try {
    return new Intl.NumberFormat('en', {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(amount)
  } catch {
    return `${amount.toFixed(digits)} ${currency}`
  }
}

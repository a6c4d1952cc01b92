// Excel stores dates, times, percentages and codes with leading zeros as plain numbers. Only the format of the cell tells them apart.

export type NumberFormat = 'plain' | 'date' | 'time' | 'duration' | NumberPattern

/** The text around a number, and how many digits it has at least. Further digits are kept, unlike in Excel: sums use them all. */
interface NumberPattern {
  before: string
  integers: number
  decimals: number
  /** The number is multiplied by 100. */
  percent: boolean
  after: string
}

const pattern = (decimals: number, more: Partial<NumberPattern> = {}): NumberPattern => ({
  before: '',
  integers: 1,
  decimals,
  percent: false,
  after: '',
  ...more,
})

/** `code` is the format code in the workbook. Formats without a code are built into Excel and have ids below 164. */
export function numberFormatOf(id: number, code: string | undefined): NumberFormat {
  if (code !== undefined) return formatOfCode(code)
  if (id === 9 || id === 10) return pattern(id === 9 ? 0 : 2, { percent: true, after: '%' })
  // Some of these show a currency, but which one depends on who opens the file.
  if ([2, 4, 7, 8, 39, 40, 43, 44].includes(id)) return pattern(2)
  if ((id >= 18 && id <= 21) || id === 45 || id === 47 || (id >= 32 && id <= 35)) return 'time'
  if (id === 46) return 'duration'
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? 'date' : 'plain'
}

function formatOfCode(code: string): NumberFormat {
  // Quoted and escaped text is shown as it is. The first section is for positive numbers.
  const [bare = ''] = code
    .toLowerCase()
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .split(';')
  if (/\[(h+|m+|s+)\]/.test(bare)) return 'duration'
  const letters = bare.replace(/\[[^\]]*\]/g, '').replace(/general|am\/pm|a\/p/g, 'h')
  if (/general/.test(bare)) return 'plain'
  if (/[yd]|mmm/.test(letters) || (/m/.test(letters) && !/[hs]/.test(letters))) return 'date'
  if (/[hs]/.test(letters)) return 'time'
  return patternOf(code)
}

/** Longest text that a format may add to a number. A file can repeat it in every cell. */
const MAX_LITERAL = 20

function patternOf(code: string): NumberFormat {
  const [, before = '', digits = '', after = ''] = PARTS.exec(code) ?? []
  // Fractions, powers of ten and thousands as units: the plain number is clearer.
  if (digits === '' || /[/eE]/.test(after) || /,$|,\.|[^0#?,.]/.test(digits)) return 'plain'
  const [whole = '', part = ''] = digits.split('.')
  const percent = literal(before).includes('%') || literal(after).includes('%')
  return {
    before: literal(before),
    integers: Math.min(whole.replace(/[^0]/g, '').length, MAX_LITERAL),
    decimals: Math.min(part.replace(/[^0]/g, '').length, MAX_LITERAL),
    percent,
    after: literal(after),
  }
}

/** The first section: the text before the digits, the digits, and the text after them. */
const PARTS =
  /^((?:"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|[^0#?;"\\_*[])*)([0#?][0#?,.]*)((?:"[^"]*"|\\.|_.|\*.|\[[^\]]*\]|[^;"\\_*[])*)/

/** `[$€-407]` is a currency; other brackets are colours and conditions. Spacing, and the signs of negative numbers, are left out. */
const literal = (text: string): string =>
  text
    .replace(
      /"([^"]*)"|\\(.)|[_*].|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]/g,
      (_, quoted, escaped, currency) => quoted ?? escaped ?? currency ?? '',
    )
    .replace(/[()#0?]|^[-+]+/g, '')
    .slice(0, MAX_LITERAL)

/** Dates become ISO dates, with a time only if they have one. Numbers keep the 15 digits that Excel stores. */
export function formatNumber(value: number, format: NumberFormat, from1904: boolean): string {
  if (typeof format === 'object') return patterned(value, format)
  switch (format) {
    case 'plain':
      return String(Number(value.toPrecision(15)))
    case 'duration':
      return clock(value)
    case 'time':
      return value >= 0 && value < 1 ? clock(value) : dateOf(value, from1904)
    case 'date':
      return dateOf(value, from1904)
  }
}

function patterned(value: number, { before, integers, decimals, percent, after }: NumberPattern): string {
  const size = Math.abs(percent ? Number((value * 100).toPrecision(12)) : Number(value.toPrecision(15)))
  const [whole = '', part = ''] = String(size).split('.')
  // Numbers of more than 21 digits are written with an exponent.
  if (/e/.test(String(size))) return `${value < 0 ? '-' : ''}${before}${size}${after}`.trim()
  const digits = part.padEnd(decimals, '0')
  const number = `${whole.padStart(integers, '0')}${digits === '' ? '' : `.${digits}`}`
  return `${value < 0 ? '-' : ''}${before}${number}${after}`.trim()
}

const secondsADay = 86_400

function clock(days: number): string {
  const seconds = Math.round(Math.abs(days) * secondsADay)
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0')
  return `${days < 0 ? '-' : ''}${two(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`
}

function dateOf(serial: number, from1904: boolean): string {
  // Excel counts 29 February 1900, which never existed. Days before it are off by one.
  const days = from1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial
  const date = new Date((Math.round(days * secondsADay) - 25_569 * secondsADay) * 1000)
  if (serial < 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return String(serial)
  const [day = '', time = ''] = date.toISOString().split('T')
  return time.startsWith('00:00:00') ? day : `${day}T${time.slice(0, 8)}`
}

// Excel keeps dates, times and percentages as bare numbers; only the format of the cell says which is which.

export type NumberFormat = 'plain' | 'date' | 'time' | 'duration' | 'percent'

/** `code` is the format as it is written in the workbook; the ids below 164 that have none are built into Excel. */
export function numberFormatOf(id: number, code: string | undefined): NumberFormat {
  if (code !== undefined) return formatOfCode(code)
  if (id === 9 || id === 10) return 'percent'
  if ((id >= 18 && id <= 21) || id === 45 || id === 47 || (id >= 32 && id <= 35)) return 'time'
  if (id === 46) return 'duration'
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? 'date' : 'plain'
}

function formatOfCode(code: string): NumberFormat {
  // What is quoted or escaped is shown as it is. The first of the sections is the one for positive numbers.
  const [bare = ''] = code
    .toLowerCase()
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .split(';')
  if (/\[(h+|m+|s+)\]/.test(bare)) return 'duration'
  const letters = bare.replace(/\[[^\]]*\]/g, '').replace(/general|am\/pm|a\/p/g, 'h')
  if (/general/.test(bare)) return 'plain'
  if (/[yd]|mmm/.test(letters) || (/m/.test(letters) && !/[hs]/.test(letters))) return 'date'
  if (/[hs]/.test(letters)) return 'time'
  return letters.includes('%') ? 'percent' : 'plain'
}

/** Dates as ISO dates, the time only where there is one; numbers with the 15 digits Excel keeps. */
export function formatNumber(value: number, format: NumberFormat, from1904: boolean): string {
  switch (format) {
    case 'plain':
      return String(Number(value.toPrecision(15)))
    case 'percent':
      return `${Number((value * 100).toPrecision(12))}%`
    case 'duration':
      return clock(value)
    case 'time':
      return value >= 0 && value < 1 ? clock(value) : dateOf(value, from1904)
    case 'date':
      return dateOf(value, from1904)
  }
}

const secondsADay = 86_400

function clock(days: number): string {
  const seconds = Math.round(Math.abs(days) * secondsADay)
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0')
  return `${days < 0 ? '-' : ''}${two(seconds / 3600)}:${two((seconds % 3600) / 60)}:${two(seconds % 60)}`
}

function dateOf(serial: number, from1904: boolean): string {
  // Excel counts a 29 February 1900 that never was; before it the days are off by one.
  const days = from1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial
  const date = new Date((Math.round(days * secondsADay) - 25_569 * secondsADay) * 1000)
  if (serial < 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return String(serial)
  const [day = '', time = ''] = date.toISOString().split('T')
  return time.startsWith('00:00:00') ? day : `${day}T${time.slice(0, 8)}`
}

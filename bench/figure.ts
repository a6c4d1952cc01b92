// The result of a scenario, and how it is shown on the terminal and in RESULTS.md.

export interface Figure {
  scenario: string
  what: string
  /** The value of the floor, or of the server before the load. Empty when there is nothing to compare with. */
  base: string
  server: string
  /** The value that is compared with the target, with its unit. */
  value: string
  target: string
  outcome: 'met' | 'missed' | 'skipped' | 'noted'
  /** How it was measured, other observations, and what went wrong. */
  note: string
}

interface Measured {
  scenario: string
  what: string
  base?: string
  server: string
  value: number
  limit: number
  unit: '×' | ' ms' | ' MB' | ' KB' | ' %' | ' failed' | ' asked' | ' missed'
  note?: string
  /** Reasons why the figure cannot be trusted. With any of them the target counts as missed, whatever the value. */
  problems?: readonly string[]
}

export function figureOf(measured: Measured): Figure {
  const { value, limit, unit } = measured
  const problems = measured.problems ?? []
  return {
    scenario: measured.scenario,
    what: measured.what,
    base: measured.base ?? '',
    server: measured.server,
    value: Number.isFinite(value) ? `${round(value)}${unit}` : '–',
    target: `≤ ${limit}${unit}`,
    outcome: value <= limit && problems.length === 0 ? 'met' : 'missed',
    note: [...problems, ...(measured.note === undefined ? [] : [measured.note])].join('; '),
  }
}

export function skipped(scenario: string, reason: string): Figure {
  return { scenario, what: '', base: '', server: '', value: '', target: '', outcome: 'skipped', note: reason }
}

/** A figure without a target. */
export function noted(scenario: string, what: string, value: string, note = ''): Figure {
  return { scenario, what, base: '', server: '', value, target: '', outcome: 'noted', note }
}

/** About three significant digits: 0.12, 1.23, 12.3, 123. Integers stay integers. */
export function round(value: number): string {
  if (Number.isInteger(value)) return String(value)
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits)
}

const COLUMNS = ['scenario', 'what', 'floor or before', 'server', 'figure', 'target', '', 'note']

function cells(figure: Figure): string[] {
  const { scenario, what, base, server, value, target, outcome, note } = figure
  return [scenario, what, base, server, value, target, outcome, note]
}

export function markdownTable(figures: readonly Figure[]): string {
  const line = (row: readonly string[]): string => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(COLUMNS), `|${'---|'.repeat(COLUMNS.length)}`, ...figures.map((figure) => line(cells(figure)))].join(
    '\n',
  )
}

/** Aligned columns, with each note on its own line below its row. */
export function textTable(figures: readonly Figure[]): string {
  const rows = [COLUMNS, ...figures.map(cells)].map((row) => row.slice(0, -1))
  const widths = COLUMNS.slice(0, -1).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return lines
    .flatMap((line, index) => {
      const note = figures[index - 1]?.note ?? ''
      return note === '' ? [line] : [line, `    ${note}`]
    })
    .join('\n')
}

// What a scenario found out, and how it is shown: on the terminal and in RESULTS.md.

export interface Figure {
  scenario: string
  what: string
  /** What the floor, or the server in its first state, showed; empty where there is nothing to compare with. */
  base: string
  server: string
  /** The figure with its unit, as compared with the target. */
  value: string
  target: string
  outcome: 'met' | 'missed' | 'skipped'
  /** How it was measured, what else was seen, what went wrong. */
  note: string
}

interface Measured {
  scenario: string
  what: string
  base?: string
  server: string
  value: number
  limit: number
  unit: '×' | ' ms' | ' MB' | ' %' | ' failed'
  note?: string
  /** Anything in here means that the figure cannot be trusted; it then is missed, whatever its value. */
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

/** About three digits that count: 0.12, 1.23, 12.3, 123; counts stay whole. */
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

/** Aligned columns; each note on its own line below. */
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

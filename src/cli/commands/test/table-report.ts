import type { CaseResult } from '../../../evaluation/case-result.ts'
import type { Io, OutputStream } from '../../terminal/io.ts'
import { type Style, styleFor } from '../../terminal/style.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'

/** Enough to see what went wrong. `--json` has everything. */
const MAX_CHARS = 500

/** A table of all cases, then the failures, then how many passed. */
export function testTable(
  results: readonly CaseResult[],
  durationMs: number,
  stream: OutputStream,
  env: Io['env'],
): string {
  const style = styleFor(stream, env)
  const wrong = results.filter(({ findings }) => findings.length > 0)
  return [
    rowsOf(results, style),
    ...wrong.map((result) => detail(result, style)),
    summary(results, durationMs, style),
  ].join('\n')
}

function rowsOf(results: readonly CaseResult[], style: Style): string {
  const several = new Set(results.map(({ agent }) => agent)).size > 1
  const agentOf = (agent: string): string[] => (several ? [agent] : [])
  const rows = results.map((result) => [
    ...agentOf(result.agent),
    terminalLine(result.name, 60),
    result.outcome,
    seconds(result.durationMs),
    (result.tokens.input + result.tokens.output).toLocaleString('en'),
  ])
  const head = [...agentOf('AGENT'), 'CASE', 'RESULT', 'TIME', 'TOKENS']
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string[] =>
    cells.map((cell, column) =>
      column >= cells.length - 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    )
  const lines = rows.map((row, index) => {
    const cells = line(row)
    const place = cells.length - 3
    // Coloured after padding, because colour codes have no width.
    cells[place] = colourOf(results[index]?.outcome, style)(cells[place] ?? '')
    return cells.join('  ')
  })
  return `${[line(head).join('  '), ...lines].join('\n')}\n`
}

function detail({ agent, name, findings }: CaseResult, style: Style): string {
  const lines = findings.flatMap(({ check, expected, found }) => [
    `  ${style.bold(check)}`,
    `    expected  ${terminalLine(expected, MAX_CHARS)}`,
    `    found     ${terminalLine(found, MAX_CHARS)}`,
  ])
  return `${[style.red(`${agent}: ${terminalLine(name, 60)}`), ...lines].join('\n')}\n`
}

function summary(results: readonly CaseResult[], durationMs: number, style: Style): string {
  const count = (outcome: CaseResult['outcome']): number => results.filter((one) => one.outcome === outcome).length
  const passed = count('passed')
  const parts = [
    `${passed} of ${results.length} ${results.length === 1 ? 'test case' : 'test cases'} passed`,
    ...(['failed', 'error', 'stopped'] as const).flatMap((outcome) =>
      count(outcome) === 0 ? [] : [`${count(outcome)} ${words[outcome]}`],
    ),
  ]
  const text = `${parts.join(', ')} (${seconds(durationMs)})`
  return `${passed === results.length ? style.green(text) : style.red(text)}\n`
}

const words = { failed: 'failed', error: 'could not be finished', stopped: 'stopped' }

function colourOf(outcome: CaseResult['outcome'] | undefined, style: Style): (text: string) => string {
  if (outcome === 'passed') return style.green
  return outcome === 'stopped' ? style.yellow : style.red
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

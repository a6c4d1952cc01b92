import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { CaseResult } from '../../../evaluation/case-result.ts'
import { cannotCreate } from '../../cli-error.ts'
import type { Io, OutputStream } from '../../terminal/io.ts'
import { type Style, styleFor } from '../../terminal/style.ts'
import { CLEAR_LINE, canRedraw, counted, terminalLine } from '../../terminal/terminal-text.ts'

/**
 * Creates a file for results now, with its missing folders. `-` is standard output. Returns what writes the results. Null if no file was
 * asked for.
 */
export async function openTestReport(
  file: string | undefined,
  io: Io,
): Promise<((text: string) => Promise<void>) | null> {
  if (file === undefined) return null
  if (file === '-') return async (text) => void io.stdout.write(text)
  const path = resolve(io.cwd, file)
  try {
    await mkdir(dirname(path), { recursive: true })
    // Emptied now: if this run never ends, an earlier report must not look like its result.
    await writeFile(path, '')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw cannotCreate(`${file} cannot be written: ${reason}.`, ['Choose another file.'])
  }
  return (text) => writeFile(path, text)
}

/** The results for programs. `docs/look-up/cli.md` explains the keys. */
export function jsonReport(results: readonly CaseResult[], durationMs: number): string {
  const count = countIn(results)
  const report = {
    ok: count('passed') === results.length,
    passed: count('passed'),
    failed: count('failed'),
    errors: count('error'),
    stopped: count('stopped'),
    duration_ms: Math.round(durationMs),
    cases: results.map(({ agent, name, outcome, durationMs: took, tokens, findings, answer, calls }) => ({
      agent,
      name,
      outcome,
      duration_ms: took,
      tokens,
      findings,
      answer,
      tool_calls: calls.map(({ name: tool, arguments: args, bySubagent }) => ({
        name: tool,
        arguments: args,
        by_subagent: bySubagent,
      })),
    })),
  }
  return `${JSON.stringify(report, null, 2)}\n`
}

/** The results for CI servers: a suite for each agent, `failure` if the agent was wrong, `error` if the case could not be finished. */
export function junitReport(results: readonly CaseResult[], durationMs: number): string {
  const agents = [...new Set(results.map(({ agent }) => agent))]
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="quarterdeck" ${counts(results)} time="${seconds(durationMs)}">`,
    ...agents.flatMap((agent) =>
      suite(
        agent,
        results.filter((one) => one.agent === agent),
      ),
    ),
    '</testsuites>',
  ]
  return `${lines.join('\n')}\n`
}

const countIn =
  (results: readonly CaseResult[]) =>
  (outcome: CaseResult['outcome']): number =>
    results.filter((one) => one.outcome === outcome).length

function suite(agent: string, results: readonly CaseResult[]): string[] {
  const took = results.reduce((sum, { durationMs }) => sum + durationMs, 0)
  return [
    `  <testsuite name="${escaped(agent)}" ${counts(results)} time="${seconds(took)}">`,
    ...results.flatMap(testCase),
    '  </testsuite>',
  ]
}

function testCase({ agent, name, outcome, durationMs, findings, answer }: CaseResult): string[] {
  const head = `<testcase classname="${escaped(agent)}" name="${escaped(name)}" time="${seconds(durationMs)}"`
  if (outcome === 'passed') return [`    ${head}/>`]
  if (outcome === 'stopped')
    return [`    ${head}>`, '      <skipped message="stopped before it finished"/>', '    </testcase>']
  const tag = outcome === 'failed' ? 'failure' : 'error'
  const text = findings
    .map(({ check, expected, found }) => `${check}: expected ${expected}\nfound ${found}`)
    .join('\n\n')
  const message = findings.map(({ check, expected }) => `${check}: expected ${expected}`).join('; ')
  return [
    `    ${head}>`,
    `      <${tag} message="${escaped(message)}" type="${escaped(findings[0]?.check ?? '')}">${escaped(text)}</${tag}>`,
    `      <system-out>${escaped(answer)}</system-out>`,
    '    </testcase>',
  ]
}

function counts(results: readonly CaseResult[]): string {
  const count = countIn(results)
  return `tests="${results.length}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('stopped')}"`
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3)

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }

/** Leaves out what XML 1.0 cannot express: most control characters, lone surrogates, U+FFFE, U+FFFF. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll(/[&<>"']/g, (char) => entities[char] ?? char)

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
    shortSeconds(result.durationMs),
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
    ...found.split('\n').map((line, i) => `    ${i === 0 ? 'found' : '     '}     ${terminalLine(line, MAX_CHARS)}`),
  ])
  return `${[style.red(`${agent}: ${terminalLine(name, 60)}`), ...lines].join('\n')}\n`
}

function summary(results: readonly CaseResult[], durationMs: number, style: Style): string {
  const count = countIn(results)
  const passed = count('passed')
  const parts = [
    `${passed} of ${counted(results.length, 'test case')} passed`,
    ...(['failed', 'error', 'stopped'] as const).flatMap((outcome) =>
      count(outcome) === 0 ? [] : [`${count(outcome)} ${words[outcome]}`],
    ),
  ]
  const text = `${parts.join(', ')} (${shortSeconds(durationMs)})`
  return `${passed === results.length ? style.green(text) : style.red(text)}\n`
}

const words = { failed: 'failed', error: 'could not be finished', stopped: 'stopped' }

function colourOf(outcome: CaseResult['outcome'] | undefined, style: Style): (text: string) => string {
  if (outcome === 'passed') return style.green
  return outcome === 'stopped' ? style.yellow : style.red
}

const shortSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

interface TestProgress {
  begin(name: string): void
  result(result: CaseResult): void
  /** Removes the bar from the screen, for good. */
  clear(): void
}

const BAR_WIDTH = 20

export function createTestProgress(total: number, { stderr, env }: Pick<Io, 'stderr' | 'env'>): TestProgress {
  if (!canRedraw(stderr, env)) return { begin() {}, result() {}, clear() {} }
  const style = styleFor(stderr, env)
  let done = 0
  let wrong = 0
  let latest = ''
  let cleared = false

  function draw(): void {
    if (cleared) return
    const full = Math.round((done / total) * BAR_WIDTH)
    const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`
    const count = ` ${done}/${total}`
    const failures = wrong === 0 ? '' : `  ${wrong} failed`
    // A wrapped line could not be drawn over.
    const width = (stderr.columns || 80) - BAR_WIDTH - count.length - failures.length - 3
    stderr.write(
      `${CLEAR_LINE}${bar}${count}${style.red(failures)}  ${style.dim(terminalLine(latest, Math.max(width, 0)))}`,
    )
  }
  return {
    begin(name) {
      latest = name
      draw()
    },
    result({ outcome }) {
      done += 1
      if (outcome === 'failed' || outcome === 'error') wrong += 1
      draw()
    },
    clear() {
      if (!cleared) stderr.write(CLEAR_LINE)
      cleared = true
    },
  }
}

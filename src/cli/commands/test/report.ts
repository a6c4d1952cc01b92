import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { CaseResult } from '../../../evaluation/case-result.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'

interface TestReport {
  /** Called once. */
  write(text: string): Promise<void>
}

/** Creates a file for results now, with its missing folders. `-` is standard output. Null if no file was asked for. */
export async function openTestReport(file: string | undefined, io: Io): Promise<TestReport | null> {
  if (file === undefined) return null
  if (file === '-') return { write: async (text) => void io.stdout.write(text) }
  const path = resolve(io.cwd, file)
  try {
    await mkdir(dirname(path), { recursive: true })
    // Emptied now: if this run never ends, an earlier report must not look like its result.
    const handle = await open(path, 'w')
    await handle.close()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CliError(exitCodes.cannotCreate.code, `${file} cannot be written: ${reason}.`, ['Choose another file.'])
  }
  return {
    async write(text) {
      const handle = await open(path, 'w')
      try {
        await handle.writeFile(text)
      } finally {
        await handle.close()
      }
    },
  }
}

/** The results for programs. `docs/cli.md` explains the keys. */
export function jsonReport(results: readonly CaseResult[], durationMs: number): string {
  const count = (outcome: CaseResult['outcome']): number => results.filter((one) => one.outcome === outcome).length
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
  const count = (outcome: CaseResult['outcome']): number => results.filter((one) => one.outcome === outcome).length
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

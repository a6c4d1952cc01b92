// `.env` files: KEY=VALUE lines. The values are passed on as data and never put into `process.env`.

import { join } from 'node:path'
import { type ConfigIssue, issueWithoutLine } from '../config-error.ts'
import { type ConfigFiles, readText } from './config-files.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The value of a variable. An empty one counts as not set, because that is what `FOO=` in a compose file or a CI form means. */
export function variable(env: Environment, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  return value === undefined || value.trim() === '' ? undefined : value
}

const proxyNames = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'no_proxy', 'NO_PROXY'] as const

/** The proxy variables of the environment or of a `.env` file. */
export function proxyVariables(env: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    proxyNames.flatMap((name) => {
      const value = variable(env, name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** The environment together with the `.env` of a folder. A variable that is set in the environment wins. */
export function readEnvironment(
  folder: string,
  env: Environment,
  files: ConfigFiles,
): { env: Environment; issues: ConfigIssue[] } {
  const path = join(folder, '.env')
  const file = readText(files, path)
  if (file.text === null) {
    if (file.missing) return { env, issues: [] }
    const message = `${file.problem}. Make it readable, or remove it.`
    return { env, issues: [issueWithoutLine(message, { file: path })] }
  }
  const { variables, issues } = parseEnvFile(path, file.text)
  for (const name of Object.keys(env)) {
    const value = variable(env, name)
    if (value !== undefined) variables.set(name, value)
  }
  return { env: Object.fromEntries(variables), issues }
}

/**
 * `export` is allowed and ignored. 'Single quotes' are literal, "double quotes" understand \n \r \t \" \\ \$; both may span
 * lines. Without quotes, a value ends at ` #`. Nothing is expanded. If a key appears twice, the last one wins.
 */
export function parseEnvFile(path: string, text: string): { variables: Map<string, string>; issues: ConfigIssue[] } {
  const variables = new Map<string, string>()
  const issues: ConfigIssue[] = []
  const source = text.replaceAll(/\r\n?/g, '\n')
  let line = 1
  let position = 0
  while (position < source.length) {
    const end = endOfLine(source, position)
    const read = readLine(source, position, end)
    if (read.problem !== undefined) issues.push({ file: path, line, column: 1, path: '', message: read.problem })
    if (read.name !== undefined) variables.set(read.name, read.value)
    line += countLines(source, position, read.next)
    position = read.next
  }
  return { variables, issues }
}

type Line =
  | { next: number; name?: undefined; problem?: undefined }
  | { next: number; name: string; value: string; problem?: undefined }
  | { next: number; name?: undefined; problem: string }

function readLine(source: string, start: number, end: number): Line {
  const line = source.slice(start, end)
  if (/^\s*(#|$)/.test(line)) return { next: end + 1 }
  const head = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=[^\S\n]*/.exec(line)
  const name = head?.[1]
  // The message does not repeat the line, because it may contain a secret.
  if (head === null || name === undefined) return { next: end + 1, problem: 'expected NAME=value or a # comment.' }
  const valueStart = start + head[0].length
  const quote = source[valueStart]
  if (quote !== '"' && quote !== "'") {
    const value = source.slice(valueStart, end).replace(/(^|\s+)#.*$/, '')
    return { next: end + 1, name, value: value.trimEnd() }
  }
  const close = closingQuote(source, valueStart + 1, quote)
  if (close === -1)
    return { next: end + 1, problem: `the value of ${name} starts with ${quote} but has no closing ${quote}.` }
  const lineEnd = endOfLine(source, close)
  if (!/^\s*(#.*)?$/.test(source.slice(close + 1, lineEnd))) {
    return { next: lineEnd + 1, problem: `there is text after the closing ${quote} of ${name}.` }
  }
  const quoted = source.slice(valueStart + 1, close)
  return { next: lineEnd + 1, name, value: quote === '"' ? unescaped(quoted) : quoted }
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf('\n', from)
  return end === -1 ? source.length : end
}

function closingQuote(source: string, from: number, quote: string): number {
  for (let i = from; i < source.length; i += 1) {
    if (source[i] === quote) return i
    if (source[i] === '\\' && quote === '"') i += 1
  }
  return -1
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' }

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, (whole, char: string) => escapes[char] ?? whole)

const countLines = (source: string, from: number, to: number): number => source.slice(from, to).split('\n').length - 1

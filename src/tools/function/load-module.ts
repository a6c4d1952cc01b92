// Loads a tool's module from its path. Every failure says what to do about it.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { within } from '../../domain/abort.ts'
import type { FunctionToolSettings } from '../../domain/agent/tool-settings.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { type ImportedModule, importModule } from './import-module.ts'

export interface LoadModuleDeps {
  clock: Clock
  /** A new number each time a file has changed, so that it is loaded again. Null: it is loaded once. */
  reload: number | null
}

const ENDINGS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']
const TYPESCRIPT = ['.ts', '.mts', '.cts']

/** A module may wait for something while it loads, but it must not keep the server from starting. */
const LOAD_LIMIT_MS = 30_000

/** Throws `config_invalid`. */
export async function loadModule(settings: FunctionToolSettings, deps: LoadModuleDeps): Promise<ImportedModule> {
  const { file } = settings
  const ending = extname(file)
  if (!ENDINGS.includes(ending))
    throw toolConfigError(
      settings,
      `a function tool is an export of a .ts, .js or .mjs file, not of ${ending || 'this'}.`,
    )
  if (!existsSync(file)) throw toolConfigError(settings, 'there is no such file. Check file: in agent.yaml.')
  if (TYPESCRIPT.includes(ending) && /[\\/]node_modules[\\/]/.test(file)) {
    const help = 'Copy the file out of node_modules, or name the package’s .js file.'
    throw toolConfigError(settings, `Node does not run TypeScript under node_modules. ${help}`)
  }
  const loading = importModule(file, deps.reload).catch((error: unknown) => {
    throw importFailed(settings, error)
  })
  const loaded = await within(deps.clock, LOAD_LIMIT_MS, loading, true)
  if (loaded !== null) return loaded
  const help = 'Move what it waits for into the function.'
  throw toolConfigError(settings, `the file did not finish loading within ${LOAD_LIMIT_MS / 1000} s. ${help}`)
}

function importFailed(settings: FunctionToolSettings, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const message = error instanceof Error ? error.message : String(error)
  const line =
    error instanceof Error ? (lineIn(settings.file, error.stack ?? '') ?? syntaxLine(settings.file, error)) : null
  return toolConfigError(
    settings,
    `${firstLine(message)} ${helpFor(code, error, line === null ? settings.file : null)}`,
    { line, cause: error },
  )
}

/** Node tells the line of a JavaScript syntax error only when it prints the error, so another Node checks the file. It runs nothing. */
function syntaxLine(file: string, error: Error): number | null {
  if (!(error instanceof SyntaxError) || TYPESCRIPT.includes(extname(file))) return null
  const options = { input: readFileSync(file), encoding: 'utf8', env: {}, timeout: 5_000 } as const
  const { stderr } = spawnSync(process.execPath, ['--check', '--input-type=module', '-'], options)
  const line = /^\[stdin\]:(\d+)$/m.exec(stderr)?.[1]
  return line !== undefined && stderr.includes(error.message) ? Number(line) : null
}

/** `placeless` is the file of an error without a line. Such a syntax error is in a file that this one imports. */
function helpFor(code: unknown, error: unknown, placeless: string | null): string {
  switch (code) {
    case 'ERR_MODULE_NOT_FOUND':
    case 'MODULE_NOT_FOUND':
    case 'ERR_UNSUPPORTED_DIR_IMPORT':
      return 'Install the package in the project. Import a file with its ending: ./other.ts'
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return 'Node only strips types. Write it without enum, namespace, parameter properties and import =.'
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return 'Node does not run TypeScript under node_modules. Import the package’s JavaScript.'
  }
  if (error instanceof SyntaxError) return placeless === null ? 'Fix the file.' : `This shows where: node ${placeless}`
  return 'The file threw this while it was loaded. Fix it, or move the work into the function.'
}

/** The first line of the message as a sentence. */
function firstLine(message: string): string {
  const [line = ''] = message.trim().split('\n')
  return /[.!?]$/.test(line) ? line : `${line}.`
}

/** The first line number in the stack that is in this file. */
function lineIn(file: string, stack: string): number | null {
  for (const name of [pathToFileURL(file).href, file]) {
    const at = stack.indexOf(name)
    const line = at === -1 ? null : /^(?:\?v=\d+)?:(\d+)/.exec(stack.slice(at + name.length))
    if (line?.[1] !== undefined) return Number(line[1])
  }
  return null
}

/** `/srv/tools.ts:12 tool get_weather: …` */
export function toolConfigError(
  settings: FunctionToolSettings,
  message: string,
  place: { line?: number | null; cause?: unknown } = {},
): ServerError {
  const { line = null, cause } = place
  const where = line === null ? settings.file : `${settings.file}:${line}`
  return new ServerError('config_invalid', `${where} tool ${settings.name}: ${message}`, {
    details: { file: settings.file, line, tool: settings.name },
    cause,
  })
}

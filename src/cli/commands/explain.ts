import { Command } from 'commander'
import { type ErrorCode, errorCodes, isErrorCode } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { errorGroups, errorHelp } from '../../http/error-help.ts'
import { statusOf, titleOf } from '../../http/status.ts'
import { usageError } from '../cli-error.ts'
import { type CommandContext, examples } from '../command.ts'
import type { Io } from '../terminal/io.ts'
import { type Style, styleFor } from '../terminal/style.ts'

export function createExplainCommand({ io }: CommandContext): Command {
  return new Command('explain')
    .summary('say what an error code means and what to do')
    .description(
      'Explains the code of an error: what happened, and what to do about it. Without a code, lists all of them. Needs no server and no ' +
        'network.',
    )
    .argument('[code]', 'the code of an error, or its type: data_dir_locked')
    .option('--json', 'as JSON, one line for each code')
    .addHelpText('after', examples('explain data_dir_locked', 'explain'))
    .action((code: string | undefined, options: { json?: boolean }) => explain(code, options, io))
}

export function explain(asked: string | undefined, { json }: { json?: boolean }, io: Io): void {
  const found = asked === undefined ? errorCodes : [knownCode(asked)]
  const style = styleFor(io.stdout, io.env)
  const text = json
    ? found.map((code) => JSON.stringify(factsOf(code))).join('\n')
    : asked === undefined
      ? list(style)
      : found.map((code) => row(code, style)).join('\n')
  io.stdout.write(`${text}\n`)
}

/** The `type` of a problem ends with its code. Throws `CliError`. */
function knownCode(asked: string): ErrorCode {
  const code = asked.replace(/^.*[/#]/, '').toLowerCase()
  if (isErrorCode(code)) return code
  const near = [didYouMean(code, errorCodes), ...errorCodes.filter((one) => code.length > 2 && one.includes(code))]
  const few = [...new Set(near)].filter((one) => one !== null).slice(0, 5)
  throw usageError(`There is no error code ${JSON.stringify(asked)}.`, [
    ...(few.length === 0 ? [] : [`Did you mean ${few.join(', ')}?`]),
    'List all of them: quarterdeck explain',
  ])
}

const factsOf = (code: ErrorCode) => ({ code, status: statusOf[code], title: titleOf(code), ...errorHelp[code] })

/** The texts are of pages, where backticks make code. */
const plain = (text: string): string => text.replaceAll('`', '')

function row(code: ErrorCode, style: Style): string {
  const { means, todo, page } = errorHelp[code]
  const pages = [`docs/look-up/errors.md#${code}`, ...(page === undefined ? [] : [`docs/${page}`])]
  return [
    `${style.bold(code)} (HTTP ${statusOf[code]})`,
    `  ${plain(means)}`,
    `  → ${plain(todo)}`,
    style.dim(`  More: ${pages.join(', ')}`),
  ].join('\n')
}

function list(style: Style): string {
  const width = Math.max(...errorCodes.map((code) => code.length))
  const groups = errorGroups.map(({ title, help }) => {
    const codes = errorCodes.filter((code) => Object.hasOwn(help, code))
    return [style.bold(title), ...codes.map((code) => `  ${code.padEnd(width)}  ${plain(errorHelp[code].means)}`)]
  })
  return groups.map((lines) => lines.join('\n')).join('\n\n')
}
